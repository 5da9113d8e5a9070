import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { ArchiveAccess } from '#domain/collecting/archive-account.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import type { AccountState } from './paced-account.ts';

/** Name of the only account. A second one would need another app of another person. */
const ACCOUNT = 'default';
/** Key of the token in the vault, which keeps secrets by workspace and owner. */
const VAULT_KEY = ['collector', 'ads-archive-token'] as const;
/** Days that a token of a person is valid, at most. */
const TOKEN_DAYS_MAX = 60;
/** Milliseconds after which a reported usage says nothing any more. */
const USAGE_MS = HOUR_MS;

export type StoredAccount = {
  readonly fingerprint: string;
  readonly expiresAt: Date;
  readonly state: AccountState;
  /** Countries that were asked for last. */
  readonly countries: readonly string[];
};

type Row = {
  readonly token_fingerprint: string;
  readonly expires_at: Date;
  readonly access: ArchiveAccess;
  readonly percent: number | null;
  readonly used_at: Date | null;
  readonly countries: readonly string[];
};

/** Returns the account; `null` before a token was set. */
export const readAccount = async (database: Database, now: Date): Promise<StoredAccount | null> => {
  const { rows } = await database.query<Row>(
    'select token_fingerprint, expires_at, access, percent, used_at, countries from collecting.account where name = $1',
    [ACCOUNT],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const isFresh = row.used_at !== null && now.getTime() - row.used_at.getTime() < USAGE_MS;
  return {
    fingerprint: row.token_fingerprint,
    expiresAt: row.expires_at,
    state: { access: row.access, percent: isFresh ? row.percent : null },
    countries: row.countries,
  };
};

/** Returns the decrypted token; `null` when another one was set meanwhile. */
export const readToken = (vault: SecretVault, { fingerprint }: StoredAccount): Promise<string | null> =>
  vault.open(...VAULT_KEY, fingerprint);

/** Encrypts and stores a token. The account is open again, and older tokens are deleted. */
export const storeToken = async (
  database: Database,
  vault: SecretVault,
  { token, expiresAt, now }: { readonly token: string; readonly expiresAt: Date | null; readonly now: Date },
): Promise<void> => {
  const fingerprint = await vault.seal(...VAULT_KEY, token);
  const latest = new Date(now.getTime() + TOKEN_DAYS_MAX * DAY_MS);
  const expires = expiresAt !== null && expiresAt < latest ? expiresAt : latest;
  await database.query(
    `insert into collecting.account (name, token_fingerprint, set_at, expires_at, access)
     values ($1, $2, $3, $4, '{"kind":"open"}')
     on conflict (name) do update set token_fingerprint = excluded.token_fingerprint, set_at = excluded.set_at,
       expires_at = excluded.expires_at, access = excluded.access`,
    [ACCOUNT, fingerprint, now, expires],
  );
  await vault.forget(...VAULT_KEY, fingerprint);
};

/** Stores the state of an account. Changes nothing when another token was set meanwhile. */
export const saveAccountState = async (
  database: Database,
  { fingerprint }: Pick<StoredAccount, 'fingerprint'>,
  { access, percent }: AccountState,
  now: Date,
): Promise<void> =>
  inTransaction(database, async (client) => {
    await client.query(
      `update collecting.account set access = $3, percent = $4, used_at = $5 where name = $1 and token_fingerprint = $2`,
      [ACCOUNT, fingerprint, JSON.stringify(access), percent, now],
    );
  });

/** Stores the countries that are asked for from now on. */
export const saveCountries = async (database: Database, countries: readonly string[]): Promise<void> =>
  inTransaction(database, async (client) => {
    await client.query('update collecting.account set countries = $2 where name = $1', [ACCOUNT, countries]);
  });
