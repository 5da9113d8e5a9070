import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Database, inTransaction } from './postgres.ts';

/** What the vaults share: how they seal (AES-256-GCM), under which key, and where their tables are. */

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
/** Any constant: `create … if not exists` is not safe against another process doing the same. */
const SCHEMA_LOCK = 7_205_312;

/** The setting MEMBER_VAULT_KEY. */
export const VaultKey = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES, 'base64 of 32 random bytes');

/** `context` is authenticated with the text: what was sealed for one opens for no other. */
export const encrypt = (key: Buffer, context: string, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
};

export const decrypt = (key: Buffer, context: string, sealed: Buffer): Buffer => {
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
};

/** Makes what is not there yet of the schema `vault`. */
export const createVaultTables = (pool: Database, schema: string): Promise<void> =>
  inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await client.query(schema);
  });
