import { INDEX_KEY_CONTEXT } from './address-index.ts';
import { memberKeyContext } from './member-vault.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { secretContext } from './secret-vault.ts';
import { decrypt, decryptWithAny, encrypt, masterKeysOf } from './cipher.ts';

const ROWS_PER_TRANSACTION = 500;

export type Rewrapped = { readonly rewrapped: number; readonly already: number };

type EncryptedRow = { readonly key: readonly string[]; readonly context: string; readonly sealed: Buffer };
type Table = {
  readonly all: string;
  readonly update: string;
  readonly read: (row: Readonly<Record<string, unknown>>) => EncryptedRow;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const TABLES: readonly Table[] = [
  {
    all: 'select workspace_id, member_id, wrapped_key as sealed from vault.member_key',
    update:
      'update vault.member_key set wrapped_key = $1 where workspace_id = $3 and member_id = $4 and wrapped_key = $2',
    read: ({ workspace_id, member_id, sealed }) => {
      const key = [text(workspace_id), text(member_id)] as const;
      return { key, context: memberKeyContext(...key), sealed: sealed as Buffer };
    },
  },
  {
    all: 'select workspace_id, owner, fingerprint, sealed from vault.secret',
    update:
      'update vault.secret set sealed = $1 where workspace_id = $3 and owner = $4 and fingerprint = $5 and sealed = $2',
    read: ({ workspace_id, owner, fingerprint, sealed }) => {
      const key = [text(workspace_id), text(owner), text(fingerprint)];
      return { key, context: secretContext(...key), sealed: sealed as Buffer };
    },
  },
  {
    all: 'select wrapped_key as sealed from vault.index_key',
    update: 'update vault.index_key set wrapped_key = $1 where wrapped_key = $2',
    read: ({ sealed }) => ({ key: [], context: INDEX_KEY_CONTEXT, sealed: sealed as Buffer }),
  },
];

const isEncryptedWith = (key: Buffer, { context, sealed }: EncryptedRow): boolean => {
  try {
    decrypt(key, context, sealed);
    return true;
  } catch {
    return false;
  }
};

/**
 * Encrypts rows of `secondKey` with `masterKey`; `secondKey` can be removed afterwards. A row written meanwhile stays
 * (compare-and-set). Throws when neither key decrypts a row; a repeated run continues.
 */
export const rotateMasterKey = async (
  database: Database,
  masterKey: string,
  secondKey: string,
): Promise<Rewrapped> => {
  const keys = masterKeysOf(masterKey, secondKey);
  let [rewrapped, already] = [0, 0];
  for (const { all, update, read } of TABLES) {
    const { rows } = await database.query<Readonly<Record<string, unknown>>>(all);
    const old = rows.map(read).filter((row) => !isEncryptedWith(keys[0], row));
    already += rows.length - old.length;
    for (let from = 0; from < old.length; from += ROWS_PER_TRANSACTION) {
      await inTransaction(database, async (client) => {
        for (const { key, context, sealed } of old.slice(from, from + ROWS_PER_TRANSACTION)) {
          const updated = encrypt(keys[0], context, decryptWithAny(keys, context, sealed));
          rewrapped += (await client.query(update, [updated, sealed, ...key])).rowCount ?? 0;
        }
      });
    }
  }
  return { rewrapped, already };
};
