import { createHmac, randomBytes } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { decryptWithAny, encrypt, KEY_BYTES, masterKeysOf } from './cipher.ts';

/** A hash of one purpose never equals one of another. */
type Purpose = 'address' | 'code' | 'ip';

/**
 * Finds members by address although addresses are encrypted: a keyed hash (HMAC-SHA-256). The master key wraps its key,
 * so rotating the master key changes no hash.
 */
export type AddressIndex = {
  /** Keyed hash of the address in lower case. */
  accountIdOf(address: string): string;
  hashOf(purpose: Purpose, text: string): string;
};

/** Additional authenticated data (AAD) of the wrapped key. */
export const INDEX_KEY_CONTEXT = 'address index';
/** 160 bits in hexadecimal digits. */
const HASH_LENGTH = 40;

const openKey = (masters: readonly Buffer[], wrapped: Buffer): Buffer => {
  try {
    return decryptWithAny(masters, INDEX_KEY_CONTEXT, wrapped);
  } catch (cause) {
    const text =
      'MEMBER_VAULT_KEY is not the key that wrapped the address index. Set that key, after a comma while keys change.';
    throw Object.assign(new Refusal('invalid_input', text), { cause });
  }
};

/**
 * Creates a missing key. Needs the tables of the member vault. Throws `Refusal('invalid_input')` when no master key
 * opens the key.
 */
export const openAddressIndex = async (
  pool: Database,
  masterKey: string,
  secondKey?: string,
): Promise<AddressIndex> => {
  const masters = masterKeysOf(masterKey, secondKey);
  await pool.query('insert into vault.index_key (wrapped_key) values ($1) on conflict do nothing', [
    encrypt(masters[0], INDEX_KEY_CONTEXT, randomBytes(KEY_BYTES)),
  ]);
  const { rows } = await pool.query<{ wrapped_key: Buffer }>('select wrapped_key from vault.index_key');
  const [row] = rows;
  if (!row) throw new Error('The key of the address index is missing.');
  const key = openKey(masters, row.wrapped_key);
  const hashOf: AddressIndex['hashOf'] = (purpose, text) =>
    createHmac('sha256', key).update(`${purpose}\0${text}`, 'utf8').digest('hex').slice(0, HASH_LENGTH);
  return {
    hashOf,
    accountIdOf: (address) => `acc_${hashOf('address', address.trim().toLowerCase())}`,
  };
};

/**
 * `null` for a member without an address. Stores nothing after an erasure: the locked row of the key keeps one from
 * happening between.
 */
export const putAddress = async (
  pool: Database,
  workspaceId: string,
  memberId: string,
  accountId: string | null,
): Promise<void> => {
  await pool.query(
    `insert into vault.member_address (workspace_id, member_id, account_id)
     select workspace_id, member_id, $3 from vault.member_key where workspace_id = $1 and member_id = $2 for share
     on conflict (workspace_id, member_id) do update set account_id = excluded.account_id`,
    [workspaceId, memberId, accountId],
  );
};
