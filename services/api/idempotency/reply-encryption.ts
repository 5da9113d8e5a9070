import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

/**
 * Answers kept for a repeated request may hold what is shown once, such as a new key. They are stored so that
 * only the caller who gets them can read them: sealed with AES-256-GCM under a key that follows from the text of
 * the caller's API key, which is stored nowhere (its SHA-256 is, and that is another hash).
 */
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const sealingKeyOf = (keyText: string): Buffer => hash('sha256', `answers kept for ${keyText}`, 'buffer');

export const encryptReply = (text: string, keyText: string): string => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, sealingKeyOf(keyText), nonce);
  const sealed = [cipher.update(text, 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64');
};

export const decryptReply = (sealed: string, keyText: string): string => {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv(ALGORITHM, sealingKeyOf(keyText), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
};
