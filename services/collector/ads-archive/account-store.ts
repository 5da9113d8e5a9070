import { Refusal } from '#contracts/errors.ts';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { ArchiveAccess } from '#domain/collecting/pace.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import type { AccountState } from './paced-account.ts';

/** Each further account is another app of a confirmed person of the same organisation. */
export const FIRST_ACCOUNT = 'default';
/** The vault stores secrets by workspace and owner. */
const VAULT_OWNER = 'collector';
/** Key of the token, or of the secret of the app, of an account in the vault. */
const vaultKey = (what: 'token' | 'app-secret', name: string): string =>
  name === FIRST_ACCOUNT ? `ads-archive-${what}` : `ads-archive-${what}.${name}`;
/** Maximum lifetime of a personal token. */
const TOKEN_DAYS_MAX = 60;
const USAGE_MS = HOUR_MS;

export type StoredAccount = {
  readonly name: string;
  /** `null` for the app and secret of the settings. */
  readonly appId: string | null;
  readonly secretFingerprint: string | null;
  readonly fingerprint: string;
  readonly expiresAt: Date;
  readonly state: AccountState;
  readonly countries: readonly string[];
};

type Row = {
  readonly app_id: string | null;
  readonly secret_fingerprint: string | null;
  readonly token_fingerprint: string;
  readonly expires_at: Date;
  readonly access: ArchiveAccess;
  readonly percent: number | null;
  readonly used_at: Date | null;
  readonly countries: readonly string[];
};

export const readAccountNames = async (database: Database): Promise<readonly string[]> => {
  const { rows } = await database.query<{ name: string }>(
    'select name from collecting.account order by name',
  );
  return rows.map(({ name }) => name);
};

export const readAccount = async (
  database: Database,
  now: Date,
  name = FIRST_ACCOUNT,
): Promise<StoredAccount | null> => {
  const { rows } = await database.query<Row>(
    `select token_fingerprint, expires_at, access, percent, used_at, app_id, secret_fingerprint,
       array(select distinct unnest(a.countries) from collecting.account a) as countries
     from collecting.account where name = $1`,
    [name],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const isFresh = row.used_at !== null && now.getTime() - row.used_at.getTime() < USAGE_MS;
  return {
    name,
    appId: row.app_id,
    secretFingerprint: row.secret_fingerprint,
    fingerprint: row.token_fingerprint,
    expiresAt: row.expires_at,
    state: { access: row.access, percent: isFresh ? row.percent : null },
    countries: row.countries,
  };
};

export const readToken = (
  vault: SecretVault,
  { name, fingerprint }: Pick<StoredAccount, 'name' | 'fingerprint'>,
): Promise<string | null> => vault.open(VAULT_OWNER, vaultKey('token', name), fingerprint);

/** `ofSettings`: secret of the first account without one of its own. */
export const readAppSecret = async (
  vault: SecretVault,
  { name, secretFingerprint }: Pick<StoredAccount, 'name' | 'secretFingerprint'>,
  ofSettings: string | null,
): Promise<string | null> =>
  secretFingerprint === null
    ? name === FIRST_ACCOUNT
      ? ofSettings
      : null
    : vault.open(VAULT_OWNER, vaultKey('app-secret', name), secretFingerprint);

export type NewToken = {
  readonly token: string;
  readonly expiresAt: Date | null;
  readonly now: Date;
  readonly name?: string;
  /** Absent or `null` keeps the stored ones. */
  readonly appId?: string | null;
  readonly appSecret?: string | null;
};

/** Throws `Refusal('invalid_input')` when another account has the app: tokens of one app share its limits. */
export const requireOtherApp = async (database: Database, name: string, appId: string): Promise<void> => {
  const { rows } = await database.query<{ name: string }>(
    'select name from collecting.account where app_id = $1 and name <> $2',
    [appId, name],
  );
  if (rows[0] === undefined) return;
  throw new Refusal(
    'invalid_input',
    `The account ${rows[0].name} has the app ${appId} already. Tokens of one app share its limits, so a second one adds nothing.`,
  );
};

export const storeToken = async (
  database: Database,
  vault: SecretVault,
  { token, expiresAt, now, name = FIRST_ACCOUNT, appId = null, appSecret = null }: NewToken,
): Promise<void> => {
  const fingerprint = await vault.seal(VAULT_OWNER, vaultKey('token', name), token);
  const secretFingerprint =
    appSecret === null ? null : await vault.seal(VAULT_OWNER, vaultKey('app-secret', name), appSecret);
  const latest = new Date(now.getTime() + TOKEN_DAYS_MAX * DAY_MS);
  const expires = expiresAt !== null && expiresAt < latest ? expiresAt : latest;
  await database.query(
    `insert into collecting.account as a (name, token_fingerprint, set_at, expires_at, access, app_id, secret_fingerprint)
     values ($1, $2, $3, $4, '{"kind":"open"}', $5, $6)
     on conflict (name) do update set token_fingerprint = excluded.token_fingerprint, set_at = excluded.set_at,
       expires_at = excluded.expires_at, access = excluded.access, app_id = coalesce(excluded.app_id, a.app_id),
       secret_fingerprint = coalesce(excluded.secret_fingerprint, a.secret_fingerprint)`,
    [name, fingerprint, now, expires, appId, secretFingerprint],
  );
  await vault.forget(VAULT_OWNER, vaultKey('token', name), fingerprint);
  if (secretFingerprint !== null)
    await vault.forget(VAULT_OWNER, vaultKey('app-secret', name), secretFingerprint);
};

/** Does nothing when another token was set meanwhile. */
export const saveAccountState = async (
  database: Database,
  { name, fingerprint }: Pick<StoredAccount, 'name' | 'fingerprint'>,
  { access, percent }: AccountState,
  now: Date,
): Promise<void> =>
  inTransaction(database, async (client) => {
    await client.query(
      `update collecting.account set access = $3, percent = $4, used_at = $5 where name = $1 and token_fingerprint = $2`,
      [name, fingerprint, JSON.stringify(access), percent, now],
    );
  });

export const saveCountries = async (
  database: Database,
  { name }: Pick<StoredAccount, 'name'>,
  countries: readonly string[],
): Promise<void> =>
  inTransaction(database, async (client) => {
    await client.query('update collecting.account set countries = $2 where name = $1', [name, countries]);
  });
