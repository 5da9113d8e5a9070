import { hash } from 'node:crypto';

/**
 * Natural keys give the same id on each import and machine (UUID version 5, RFC 9562). Ids that projections need are
 * here, others in `services/domain/ids.ts`. Each event and each item of a scan has one: `node:crypto` takes 1.9 µs, the
 * package `uuid` 4.7.
 */
const NAMESPACE = Buffer.from('6f0c1c4e3b7a5f0e9a585d9a2f0d7b11', 'hex');
const VARIANTS = '89ab';

export const derivedId = (kind: string, key: string): string => {
  const hex = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(`${kind}:${key}`)]), 'hex');
  const variant = VARIANTS[Number.parseInt(hex.charAt(16), 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** From the command and the index within it, so that a repeated append is idempotent. */
export const eventIdOf = (commandId: string, index: number): string =>
  derivedId('event', `${commandId}|${index}`);
