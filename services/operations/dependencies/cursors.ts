import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';

/**
 * Signs keyset cursors: base64url of a 16-byte HMAC-SHA256, then JSON of version, filters and sort key. The next page
 * starts after that key, also when rows were inserted meanwhile.
 */
const VERSION = 1;
const SIGNATURE_BYTES = 16;
const FINGERPRINT_LENGTH = 12;
/** Longer than any issued cursor: JSON can write a name of 200 characters six times as long. */
const CURSOR_MAX_LENGTH = 2_048;

type SortKey = readonly (string | number)[];

export type Cursors = {
  sign(filters: string, sortKey: SortKey): string;
  /** Throws `Refusal` when the cursor was altered or was issued for other filters. */
  open(cursor: string, filters: string): SortKey;
};

const fingerprintOf = (filters: string): string =>
  hash('sha256', filters, 'base64url').slice(0, FINGERPRINT_LENGTH);

const refusal = (message: string): Refusal =>
  new Refusal('invalid_cursor', message, [{ path: 'cursor', message, code: 'invalid_cursor' }]);
const ALTERED = refusal('The cursor is invalid. Start again without a cursor.');
const OF_OTHERS = refusal('The cursor belongs to other parameters. Start again without a cursor.');

/** All processes share the secrets. `second` is only accepted for reading, during a rotation. */
export const createCursors = (secret: string, second?: string): Cursors => {
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  const keys = second === undefined ? [key] : [key, createSecretKey(Buffer.from(second, 'utf8'))];
  const signatureOf = (payload: Buffer, by = key): Buffer =>
    createHmac('sha256', by).update(payload).digest().subarray(0, SIGNATURE_BYTES);

  return {
    sign: (filters, sortKey) => {
      const payload = Buffer.from(JSON.stringify([VERSION, fingerprintOf(filters), ...sortKey]), 'utf8');
      return Buffer.concat([signatureOf(payload), payload]).toString('base64url');
    },
    open: (cursor, filters) => {
      if (cursor.length > CURSOR_MAX_LENGTH) throw ALTERED;
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding skips characters outside base64url and ignores spare bits, so only the exact text is accepted.
      if (bytes.length <= SIGNATURE_BYTES || bytes.toString('base64url') !== cursor) throw ALTERED;
      const payload = bytes.subarray(SIGNATURE_BYTES);
      const signature = bytes.subarray(0, SIGNATURE_BYTES);
      if (!keys.some((one) => timingSafeEqual(signature, signatureOf(payload, one)))) throw ALTERED;
      const [version, fingerprint, ...sortKey] = JSON.parse(payload.toString('utf8')) as [
        number,
        string,
        ...SortKey,
      ];
      if (version !== VERSION) throw ALTERED;
      if (fingerprint !== fingerprintOf(filters)) throw OF_OTHERS;
      return sortKey;
    },
  };
};
