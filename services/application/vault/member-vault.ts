import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import {
  createVaultTables,
  decrypt,
  decryptWithAny,
  encrypt,
  KEY_BYTES,
  createKeyCheck,
  masterKeysOf,
} from './cipher.ts';
import { openAddressIndex, putAddress } from './address-index.ts';

/**
 * Stored encrypted in events (crypto-shredding). Each member's AES-256-GCM key is kept outside the log, wrapped by the
 * master key: without it the data is unreadable in every copy of the log.
 */
export type Person = { readonly name: string; readonly email: string | null };

export type MemberVault = {
  /**
   * Creates a missing key. Throws `Refusal('invalid_input')` when the master key does not decrypt the existing keys.
   */
  seal(workspaceId: string, memberId: string, person: Person): Promise<string>;
  /** `null` when the member's key was erased. */
  open(workspaceId: string, memberId: string, sealed: string): Promise<Person | null>;
  /** Permanent; also deletes the hash of the address. */
  erase(workspaceId: string, memberId: string): Promise<void>;
};

/** Starts every encrypted text. A later version can use another cipher. */
const VERSION = 'v1.';
const SCHEMA = readFileSync(new URL('./member-vault.sql', import.meta.url), 'utf8');

const Person = z.strictObject({ name: z.string(), email: z.string().nullable() });

type WrappedKey = { readonly workspace_id: string; readonly member_id: string; readonly wrapped_key: Buffer };

const OLDEST_AND_NEWEST = `
  (select workspace_id, member_id, wrapped_key from vault.member_key order by created_at limit 1)
  union all (select workspace_id, member_id, wrapped_key from vault.member_key order by created_at desc limit 1)`;

export const createMemberVaultTables = (pool: Database): Promise<void> => createVaultTables(pool, SCHEMA);

/** Additional authenticated data (AAD) of a member's wrapped key. */
export const memberKeyContext = (workspaceId: string, memberId: string): string =>
  `${workspaceId}/${memberId}`;

/** Creates its tables. `masterKey` and `secondKey` are those of MEMBER_VAULT_KEY; the second only decrypts. */
export const openMemberVault = async (
  pool: Database,
  masterKey: string,
  secondKey?: string,
): Promise<MemberVault> => {
  const masters = masterKeysOf(masterKey, secondKey);
  await createMemberVaultTables(pool);
  const contextOf = memberKeyContext;
  const proveKey = createKeyCheck(masters, async () => {
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
      if (!key) throw new Error('The member was erased while being added.');
      const index = await openAddressIndex(pool, masterKey, secondKey);
      const accountId = person.email === null ? null : index.accountIdOf(person.email);
      await putAddress(pool, workspaceId, memberId, accountId);
      const plain = Buffer.from(JSON.stringify(person), 'utf8');
      return VERSION + encrypt(key, context, plain).toString('base64url');
    },
    open: async (workspaceId, memberId, sealed) => {
      if (!sealed.startsWith(VERSION))
        throw new Error('Encrypted by an unknown version. Update this service.');
      const key = await findKey(workspaceId, memberId);
      if (!key) return null;
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
      const plain = decrypt(key, contextOf(workspaceId, memberId), bytes);
      return Person.parse(JSON.parse(plain.toString('utf8')));
    },
    erase: async (workspaceId, memberId) => {
      // The key first: `putAddress` locks it, so no address is stored after the second statement.
      await inTransaction(pool, async (client) => {
        for (const table of ['vault.member_key', 'vault.member_address']) {
          const sql = `delete from ${table} where workspace_id = $1 and member_id = $2`;
          await client.query(sql, [workspaceId, memberId]);
        }
      });
    },
  };
};

/** For a process that starts without Postgres. A failed opening is tried again. */
export const createLazyMemberVault = (pool: Database, masterKey: string, secondKey?: string): MemberVault => {
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
    seal: async (...input) => (await vault()).seal(...input),
    open: async (...input) => (await vault()).open(...input),
    erase: async (...input) => (await vault()).erase(...input),
  };
};
