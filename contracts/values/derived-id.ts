import { v5 } from 'uuid';

/**
 * Natural keys give the same id on each import and machine (UUID version 5, RFC 9562). Ids that projections need are
 * here, others in `services/domain/ids.ts`.
 */
const NAMESPACE = '6f0c1c4e-3b7a-5f0e-9a58-5d9a2f0d7b11';

export const derivedId = (kind: string, key: string): string => v5(`${kind}:${key}`, NAMESPACE);

/** From the command and the index within it, so that a repeated append is idempotent. */
export const eventIdOf = (commandId: string, index: number): string =>
  derivedId('event', `${commandId}|${index}`);
