import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Changing, secret } from '#platform/settings.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

/** AES-256-GCM encryption, master keys and table setup of the vaults. */

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

const VaultKey = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES, 'base64 of 32 random bytes');

const VAULT_KEY =
  'Seals names and addresses of members, and secrets of webhooks and chats: base64 of 32 random bytes. Two with a comma between while it changes: the first seals, both open, and `npm run ops -- vault rewrap` seals all with the first.';

/** For processes that can run without the vaults. */
export const vaultSettings = { MEMBER_VAULT_KEY: secret(Changing(VaultKey).optional(), VAULT_KEY) } as const;
/** The master key is mandatory. */
export const requiredVaultSettings = { MEMBER_VAULT_KEY: secret(Changing(VaultKey), VAULT_KEY) } as const;

/**
 * AES-256-GCM; the result is nonce, ciphertext and tag. `context` is the additional authenticated data (AAD): `decrypt`
 * fails with any other.
 */
export const encrypt = (key: Buffer, context: string, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
};

/** Throws when the key or the context is another one than at the encryption. */
export const decrypt = (key: Buffer, context: string, sealed: Buffer): Buffer => {
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
};

/** Tries the current and earlier keys. Throws when no key works. */
export const decryptWithAny = (keys: readonly Buffer[], context: string, sealed: Buffer): Buffer => {
  let failure: unknown;
  for (const key of keys) {
    try {
      return decrypt(key, context, sealed);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
};

export type Sealed = { readonly context: string; readonly sealed: Buffer };

/**
 * Await it before you encrypt, because data under a wrong key can never be read again. The oldest or newest ciphertext
 * must decrypt, or none exist. Only an empty vault is checked again. Throws `Refusal('invalid_input')`.
 */
export const createKeyCheck = (
  keys: readonly Buffer[],
  samples: () => Promise<readonly Sealed[]>,
): (() => Promise<void>) => {
  let isProven = false;
  const opens = ({ context, sealed }: Sealed): boolean => {
    try {
      decryptWithAny(keys, context, sealed);
      return true;
    } catch {
      return false;
    }
  };
  return async () => {
    if (isProven) return;
    const sealed = await samples();
    isProven = sealed.some(opens);
    if (isProven || sealed.length === 0) return;
    throw new Refusal(
      'invalid_input',
      'MEMBER_VAULT_KEY differs from the key that encrypted the stored data, so nothing was encrypted. Set the stored key, during a rotation after a comma.',
    );
  };
};

/** The first one encrypts; all of them decrypt. */
export const masterKeysOf = (...keys: readonly (string | undefined)[]): readonly [Buffer, ...Buffer[]] => {
  const [first, ...others] = keys.flatMap((key) => (key === undefined ? [] : [Buffer.from(key, 'base64')]));
  if (first === undefined) throw new Error('a vault has a key');
  return [first, ...others];
};

export const createVaultTables = (pool: Database, schema: string): Promise<void> =>
  installSchema(pool, { lock: ADVISORY_LOCKS.vaultSchema, sql: schema });
