import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Database, inTransaction } from './postgres.ts';

/**
 * Who a member is (name and e-mail address) stands in facts sealed: AES-256-GCM under a key of the member's own,
 * which is kept here, outside the log, wrapped by the master key from the setting. Facts cannot be taken back, a key
 * can: without it nobody opens what was sealed, in no copy of the log and no export.
 */
export type Person = { readonly name: string; readonly email: string | null };

export type MemberVault = {
  /** Makes the member's key where there is none. */
  seal(workspaceId: string, memberId: string, person: Person): Promise<string>;
  /** `null` where the key is gone. */
  open(workspaceId: string, memberId: string, sealed: string): Promise<Person | null>;
  /** Forgets the member's key, for good. */
  erase(workspaceId: string, memberId: string): Promise<void>;
};

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
/** Begins every sealed text, so that another cipher can come beside this one. */
const VERSION = 'v1.';
const SCHEMA = readFileSync(new URL('./member-vault.sql', import.meta.url), 'utf8');
/** Any constant: `create … if not exists` is not safe against another process doing the same. */
const SCHEMA_LOCK = 7_205_312;

/** The setting MEMBER_VAULT_KEY. */
export const MemberVaultKey = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES, 'base64 of 32 random bytes');

const Person = z.strictObject({ name: z.string(), email: z.string().nullable() });

/** `context` is authenticated with the text: what was sealed for one member opens for no other. */
const encrypt = (key: Buffer, context: string, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
};

const decrypt = (key: Buffer, context: string, sealed: Buffer): Buffer => {
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
};

/** `masterKey`: the setting MEMBER_VAULT_KEY. */
export const openMemberVault = async (pool: Database, masterKey: string): Promise<MemberVault> => {
  const master = Buffer.from(masterKey, 'base64');
  await inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await client.query(SCHEMA);
  });
  const contextOf = (workspaceId: string, memberId: string): string => `${workspaceId}/${memberId}`;

  const findKey = async (workspaceId: string, memberId: string): Promise<Buffer | null> => {
    const { rows } = await pool.query<{ wrapped_key: Buffer }>(
      'select wrapped_key from vault.member_key where workspace_id = $1 and member_id = $2',
      [workspaceId, memberId],
    );
    return rows[0] ? decrypt(master, contextOf(workspaceId, memberId), rows[0].wrapped_key) : null;
  };

  return {
    seal: async (workspaceId, memberId, person) => {
      const context = contextOf(workspaceId, memberId);
      await pool.query(
        `insert into vault.member_key (workspace_id, member_id, wrapped_key) values ($1, $2, $3)
         on conflict do nothing`,
        [workspaceId, memberId, encrypt(master, context, randomBytes(KEY_BYTES))],
      );
      const key = await findKey(workspaceId, memberId);
      if (!key) throw new Error('a member was erased while being added');
      const plain = Buffer.from(JSON.stringify(person), 'utf8');
      return VERSION + encrypt(key, context, plain).toString('base64url');
    },
    open: async (workspaceId, memberId, sealed) => {
      if (!sealed.startsWith(VERSION)) throw new Error('this was sealed by a later version');
      const key = await findKey(workspaceId, memberId);
      if (!key) return null;
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
      const plain = decrypt(key, contextOf(workspaceId, memberId), bytes);
      return Person.parse(JSON.parse(plain.toString('utf8')));
    },
    erase: async (workspaceId, memberId) => {
      await pool.query('delete from vault.member_key where workspace_id = $1 and member_id = $2', [
        workspaceId,
        memberId,
      ]);
    },
  };
};
