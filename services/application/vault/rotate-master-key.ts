import { memberKeyContext } from './member-vault.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { secretContext } from './secret-vault.ts';
import { decrypt, decryptWithAny, encrypt, masterKeysOf } from './cipher.ts';

/** Rows sealed anew in one transaction. */
const ROWS_PER_TRANSACTION = 500;

export type Rewrapped = { readonly rewrapped: number; readonly already: number };

type Sealed = { readonly place: readonly string[]; readonly context: string; readonly sealed: Buffer };
type Table = {
  readonly all: string;
  readonly update: string;
  readonly read: (row: Readonly<Record<string, unknown>>) => Sealed;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const TABLES: readonly Table[] = [
  {
    all: 'select workspace_id, member_id, wrapped_key as sealed from vault.member_key',
    update:
      'update vault.member_key set wrapped_key = $1 where workspace_id = $3 and member_id = $4 and wrapped_key = $2',
    read: ({ workspace_id, member_id, sealed }) => {
      const place = [text(workspace_id), text(member_id)] as const;
      return { place, context: memberKeyContext(...place), sealed: sealed as Buffer };
    },
  },
  {
    all: 'select workspace_id, owner, fingerprint, sealed from vault.secret',
    update:
      'update vault.secret set sealed = $1 where workspace_id = $3 and owner = $4 and fingerprint = $5 and sealed = $2',
    read: ({ workspace_id, owner, fingerprint, sealed }) => {
      const place = [text(workspace_id), text(owner), text(fingerprint)];
      return { place, context: secretContext(...place), sealed: sealed as Buffer };
    },
  },
];

const isSealedBy = (key: Buffer, { context, sealed }: Sealed): boolean => {
  try {
    decrypt(key, context, sealed);
    return true;
  } catch {
    return false;
  }
};

/**
 * Seals everything in the vaults under the first key that is still under the second, so that the second can be
 * forgotten. What somebody else seals meanwhile is left as it is. Throws at what neither key opens; run again, it goes
 * on where it was.
 */
export const rewrapVault = async (
  database: Database,
  masterKey: string,
  secondKey: string,
): Promise<Rewrapped> => {
  const keys = masterKeysOf(masterKey, secondKey);
  let [rewrapped, already] = [0, 0];
  for (const { all, update, read } of TABLES) {
    const { rows } = await database.query<Readonly<Record<string, unknown>>>(all);
    const old = rows.map(read).filter((one) => !isSealedBy(keys[0], one));
    already += rows.length - old.length;
    for (let from = 0; from < old.length; from += ROWS_PER_TRANSACTION) {
      await inTransaction(database, async (client) => {
        for (const { place, context, sealed } of old.slice(from, from + ROWS_PER_TRANSACTION)) {
          const anew = encrypt(keys[0], context, decryptWithAny(keys, context, sealed));
          rewrapped += (await client.query(update, [anew, sealed, ...place])).rowCount ?? 0;
        }
      });
    }
  }
  return { rewrapped, already };
};
