import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Database } from '#platform/postgres/pool.ts';
import {
  createVaultTables,
  decrypt,
  decryptWithAny,
  encrypt,
  KEY_BYTES,
  keyProof,
  masterKeysOf,
} from './cipher.ts';

/**
 * Who a member is (name and e-mail address) stands in events sealed: AES-256-GCM under a key of the member's own,
 * which is kept here, outside the log, wrapped by the master key from the setting. Events cannot be taken back, a key
 * can: without it nobody opens what was sealed, in no copy of the log and no export.
 */
export type Person = { readonly name: string; readonly email: string | null };

export type MemberVault = {
  /** Makes the member's key where there is none. Refuses under another master key than the others' were. */
  seal(workspaceId: string, memberId: string, person: Person): Promise<string>;
  /** `null` where the key is gone. */
  open(workspaceId: string, memberId: string, sealed: string): Promise<Person | null>;
  /** Forgets the member's key, for good. */
  erase(workspaceId: string, memberId: string): Promise<void>;
};

/** Begins every sealed text, so that another cipher can come beside this one. */
const VERSION = 'v1.';
const SCHEMA = readFileSync(new URL('./member-vault.sql', import.meta.url), 'utf8');

const Person = z.strictObject({ name: z.string(), email: z.string().nullable() });

type WrappedKey = { readonly workspace_id: string; readonly member_id: string; readonly wrapped_key: Buffer };

const OLDEST_AND_NEWEST = `
  (select workspace_id, member_id, wrapped_key from vault.member_key order by created_at limit 1)
  union all (select workspace_id, member_id, wrapped_key from vault.member_key order by created_at desc limit 1)`;

/** What a member's wrapped key is bound to. */
export const memberKeyContext = (workspaceId: string, memberId: string): string =>
  `${workspaceId}/${memberId}`;

/** `masterKey`: the setting MEMBER_VAULT_KEY. `secondKey`: MEMBER_VAULT_KEY_SECOND, which only opens. */
export const openMemberVault = async (
  pool: Database,
  masterKey: string,
  secondKey?: string,
): Promise<MemberVault> => {
  const masters = masterKeysOf(masterKey, secondKey);
  await createVaultTables(pool, SCHEMA);
  const contextOf = memberKeyContext;
  const proveKey = keyProof(masters, async () => {
    const { rows } = await pool.query<WrappedKey>(OLDEST_AND_NEWEST);
    return rows.map(({ workspace_id, member_id, wrapped_key }) => ({
      context: contextOf(workspace_id, member_id),
      sealed: wrapped_key,
    }));
  });

  const findKey = async (workspaceId: string, memberId: string): Promise<Buffer | null> => {
    const { rows } = await pool.query<{ wrapped_key: Buffer }>(
      'select wrapped_key from vault.member_key where workspace_id = $1 and member_id = $2',
      [workspaceId, memberId],
    );
    return rows[0] ? decryptWithAny(masters, contextOf(workspaceId, memberId), rows[0].wrapped_key) : null;
  };

  return {
    seal: async (workspaceId, memberId, person) => {
      await proveKey();
      const context = contextOf(workspaceId, memberId);
      await pool.query(
        `insert into vault.member_key (workspace_id, member_id, wrapped_key) values ($1, $2, $3)
         on conflict do nothing`,
        [workspaceId, memberId, encrypt(masters[0], context, randomBytes(KEY_BYTES))],
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

/** Opened when it is first asked, for a process that starts without Postgres. */
export const openMemberVaultLater = (pool: Database, masterKey: string, secondKey?: string): MemberVault => {
  let opened: Promise<MemberVault> | undefined;
  const vault = (): Promise<MemberVault> => {
    const opening = opened ?? openMemberVault(pool, masterKey, secondKey);
    opened = opening;
    opening.catch(() => {
      opened = undefined;
    });
    return opening;
  };
  return {
    seal: async (...given) => (await vault()).seal(...given),
    open: async (...given) => (await vault()).open(...given),
    erase: async (...given) => (await vault()).erase(...given),
  };
};
