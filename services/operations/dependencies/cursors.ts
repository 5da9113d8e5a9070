import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';

/**
 * A cursor is base64url of a 16-byte HMAC-SHA256 and, signed by it, the JSON of version, filter fingerprint,
 * and the sort key of the last item (tie-break included). A page starts after that key whatever was
 * inserted meanwhile. Cursors are not secret; the signature keeps out invented ones.
 */
const VERSION = 1;
const SIGNATURE_BYTES = 16;
const FINGERPRINT_LENGTH = 12;
/** Longer than any cursor we make: a name of 200 characters may be six times as long when it is written as JSON. */
const CURSOR_MAX_LENGTH = 2_048;

type SortKey = readonly (string | number)[];

export type Cursors = {
  sign(filters: string, sortKey: SortKey): string;
  /** Refuses a cursor that is altered, or was made with other filters. */
  open(cursor: string, filters: string): SortKey;
};

const fingerprintOf = (filters: string): string =>
  hash('sha256', filters, 'base64url').slice(0, FINGERPRINT_LENGTH);

const refusal = (message: string): Refusal =>
  new Refusal('invalid_cursor', message, [{ path: 'cursor', message, code: 'invalid_cursor' }]);

/** The same secrets in every process of an installation; `second` is only accepted, while secrets change. */
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
      const altered = refusal('This cursor is not one of ours. Start again without a cursor.');
      if (cursor.length > CURSOR_MAX_LENGTH) throw altered;
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding skips what is not base64url and ignores spare bits: only the exact text is a cursor.
      if (bytes.length <= SIGNATURE_BYTES || bytes.toString('base64url') !== cursor) throw altered;
      const payload = bytes.subarray(SIGNATURE_BYTES);
      const signature = bytes.subarray(0, SIGNATURE_BYTES);
      if (!keys.some((one) => timingSafeEqual(signature, signatureOf(payload, one)))) throw altered;
      const [version, fingerprint, ...sortKey] = JSON.parse(payload.toString('utf8')) as [
        number,
        string,
        ...SortKey,
      ];
      if (version !== VERSION) throw altered;
      if (fingerprint !== fingerprintOf(filters)) {
        throw refusal('This cursor belongs to other parameters. Start again without a cursor.');
      }
      return sortKey;
    },
  };
};
