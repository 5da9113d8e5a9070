import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { secret } from '#platform/settings.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';

/** What the vaults share: how they seal (AES-256-GCM), under which key, and where their tables are. */

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
/** Any constant: `create … if not exists` is not safe against another process doing the same. */
const SCHEMA_LOCK = 7_205_312;

const VaultKey = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES, 'base64 of 32 random bytes');

/** Settings of the processes that open what the vaults keep, and which may do without. */
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
/** The same where nothing works without the first. */
export const requiredVaultSettings = {
  ...vaultSettings,
  MEMBER_VAULT_KEY: secret(VaultKey, vaultSettings.MEMBER_VAULT_KEY.description ?? ''),
} as const;

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

/** Opens with the first key that fits: the one that seals, or one that did before. */
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

/** What one kept text was sealed for, and the text. */
export type Sealed = { readonly context: string; readonly sealed: Buffer };

/**
 * To be awaited before sealing: of what is there already, the oldest and the newest, one opens, or none is there. A
 * mistaken key would seal what nobody opens again. Asks once, and again while nothing is there.
 */
export const keyProof = (
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
      'MEMBER_VAULT_KEY is not the key that the others were sealed under, and nothing was sealed. Set that key, as MEMBER_VAULT_KEY_SECOND while keys change.',
    );
  };
};

/** The keys of the settings, as bytes: the first one seals. */
export const masterKeysOf = (...keys: readonly (string | undefined)[]): readonly [Buffer, ...Buffer[]] => {
  const [first, ...others] = keys.flatMap((key) => (key === undefined ? [] : [Buffer.from(key, 'base64')]));
  if (first === undefined) throw new Error('a vault has a key');
  return [first, ...others];
};

/** Makes what is not there yet of the schema `vault`. */
export const createVaultTables = (pool: Database, schema: string): Promise<void> =>
  inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await client.query(schema);
  });
