import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

/**
 * Encrypts stored replies with a key derived from the caller's API key, which is not stored: a reply may show a new
 * key.
 */
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const deriveKey = (keyText: string): Buffer => hash('sha256', `answers kept for ${keyText}`, 'buffer');

export const encryptReply = (text: string, keyText: string): string => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, deriveKey(keyText), nonce);
  const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]).toString('base64');
};

export const decryptReply = (encrypted: string, keyText: string): string => {
  const bytes = Buffer.from(encrypted, 'base64');
  const decipher = createDecipheriv(ALGORITHM, deriveKey(keyText), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
};
