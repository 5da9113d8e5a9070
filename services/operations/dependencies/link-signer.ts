import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

export type LinkSigner = {
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
};

/**
 * All API processes share the secrets. Each text begins with its kind of link. `second` is only accepted for reading.
 */
export const createLinkSigner = (secret: string, second?: string): LinkSigner => {
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  const keys = second === undefined ? [key] : [key, createSecretKey(Buffer.from(second, 'utf8'))];
  const signatureOf = (text: string, by: KeyObject): Buffer => createHmac('sha256', by).update(text).digest();
  return {
    sign: (text) => signatureOf(text, key).toString('base64url'),
    isSigned: (text, signature) => {
      const bytes = Buffer.from(signature, 'base64url');
      // Decoding skips characters outside base64url and ignores spare bits, so only the exact text is accepted.
      if (bytes.toString('base64url') !== signature) return false;
      return keys.some((one) => {
        const expected = signatureOf(text, one);
        return bytes.length === expected.length && timingSafeEqual(bytes, expected);
      });
    },
  };
};
