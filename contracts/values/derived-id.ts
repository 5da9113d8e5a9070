import { v5 } from 'uuid';

/**
 * Namespace of ids derived from natural keys (UUID version 5, RFC 9562). Importing the same object twice, or on two
 * machines, gives the same id. Id functions that projections also need are in `contracts`; the others are in
 * `services/domain/ids.ts`.
 */
const NAMESPACE = '6f0c1c4e-3b7a-5f0e-9a58-5d9a2f0d7b11';

/** Returns the id for one key of a kind. */
export const derivedId = (kind: string, key: string): string => v5(`${kind}:${key}`, NAMESPACE);

/**
 * Returns the id of an event, derived from its command and its index within the command. A repeated append
 * therefore has the same ids and is idempotent.
 */
export const eventIdOf = (commandId: string, index: number): string =>
  derivedId('event', `${commandId}|${index}`);
