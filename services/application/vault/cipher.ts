import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { secret } from '#platform/settings.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

/** AES-256-GCM encryption shared by the vaults, with their master keys and the setup of their tables. */

/** Length of a key in bytes. */
export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

const VaultKey = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES, 'base64 of 32 random bytes');

/** Settings of processes that can run without the vaults. */
export const vaultSettings = {
  MEMBER_VAULT_KEY: secret(
    VaultKey.optional(),
    'Seals names and addresses of members, and secrets of webhooks and chats: base64 of 32 random bytes.',
  ),
  MEMBER_VAULT_KEY_SECOND: secret(
    VaultKey.optional(),
    'Opens what another key has sealed, while keys change; `npm run ops -- vault rewrap` seals it anew.',
  ),
} as const;
/** Settings of processes that require the vaults: the master key is mandatory. */
export const requiredVaultSettings = {
  ...vaultSettings,
  MEMBER_VAULT_KEY: secret(VaultKey, vaultSettings.MEMBER_VAULT_KEY.description ?? ''),
} as const;

/**
 * Encrypts with AES-256-GCM. `context` is the additional authenticated data (AAD): `decrypt` fails with any other
 * context. The result is nonce, ciphertext and tag, in this order.
 */
export const encrypt = (key: Buffer, context: string, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
};

/** Decrypts a result of `encrypt`. Throws when the key or the context is not the one it was encrypted with. */
export const decrypt = (key: Buffer, context: string, sealed: Buffer): Buffer => {
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
};

/** Decrypts with the first key that works: the current key, or an earlier one. Throws when no key works. */
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

/** A stored ciphertext and the context (AAD) it is bound to. */
export type Sealed = { readonly context: string; readonly sealed: Buffer };

/**
 * Creates a check of the master key; await it before you encrypt. It decrypts the oldest and the newest stored
 * ciphertext: one of them must decrypt, or none may exist. A wrong key would encrypt data that can never be read
 * again. A successful check is not repeated; an empty vault is checked again each time.
 *
 * Throws `Refusal('invalid_input')` when no stored ciphertext decrypts.
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
      'MEMBER_VAULT_KEY differs from the key that encrypted the stored data, so nothing was encrypted. Set the stored key, during a rotation as MEMBER_VAULT_KEY_SECOND.',
    );
  };
};

/** Decodes the master keys of the settings. The first one encrypts; all of them decrypt. */
export const masterKeysOf = (...keys: readonly (string | undefined)[]): readonly [Buffer, ...Buffer[]] => {
  const [first, ...others] = keys.flatMap((key) => (key === undefined ? [] : [Buffer.from(key, 'base64')]));
  if (first === undefined) throw new Error('a vault has a key');
  return [first, ...others];
};

/** Creates the missing tables of the schema `vault`. */
export const createVaultTables = (pool: Database, schema: string): Promise<void> =>
  installSchema(pool, { lock: ADVISORY_LOCKS.vaultSchema, sql: schema });
