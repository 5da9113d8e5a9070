import { v5 } from 'uuid';

/**
 * Ids of corpus things are derived from their natural keys (UUID version 5, RFC 9562), so that
 * importing twice, or on two machines, names the same thing. Those that projections derive too stand with the
 * contracts; the others in `services/domain/ids.ts`.
 */
const NAMESPACE = '6f0c1c4e-3b7a-5f0e-9a58-5d9a2f0d7b11';

/** One id for one key of a kind. */
export const derivedId = (kind: string, key: string): string => v5(`${kind}:${key}`, NAMESPACE);

/** The id of an event: derived from its command and its index there, so that a repeated append is the same append. */
export const eventIdOf = (commandId: string, index: number): string =>
  derivedId('event', `${commandId}|${index}`);
