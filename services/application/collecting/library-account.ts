import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { ArchiveAccess } from '#domain/collecting/archive-account.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Days before the end of a token from which operators are warned. */
const WARNING_DAYS = 10;
/** Milliseconds after which a reported usage says nothing any more. */
const USAGE_MS = HOUR_MS;

/** States of an account: calls are made, it rests after a limit, or its token is refused. */
export const ACCOUNT_STATES = ['open', 'shut', 'off'] as const;

export type AccountValidity = {
  readonly expiresAt: Date;
  readonly state: { readonly access: ArchiveAccess };
};

/** Returns the days until the token ends; negative when it has ended. */
export const tokenDaysLeft = ({ expiresAt }: Pick<AccountValidity, 'expiresAt'>, now: Date): number =>
  Math.floor((expiresAt.getTime() - now.getTime()) / DAY_MS);

/** Returns what operators must do about the account; `null` when nothing. */
export const accountWarning = (account: AccountValidity, now: Date): string | null => {
  const { access } = account.state;
  const advice = 'Get a new token of an identity-confirmed person and store it with: collect token set';
  if (access.kind === 'off') return `The account is off: ${access.reason}. ${advice}`;
  const days = tokenDaysLeft(account, now);
  if (days < 0) return `The token has ended. ${advice}`;
  return days < WARNING_DAYS ? `The token ends in ${days} days. ${advice}` : null;
};

/** An account of the library API as operators see it, without its token. */
export type LibraryAccount = {
  readonly account: string;
  readonly state: (typeof ACCOUNT_STATES)[number];
  readonly shut_until: string | null;
  /** Usage that the platform reported within the last hour; `null` when it reported none. */
  readonly usage_percent: number | null;
  readonly token_ends_at: string;
  readonly token_days_left: number;
  readonly warning: string | null;
};

type Row = {
  readonly name: string;
  readonly expires_at: Date;
  readonly access: ArchiveAccess;
  readonly percent: number | null;
  readonly used_at: Date | null;
};

/** Reads the accounts of the library API, sorted by name. Returns none before a token was stored. */
export const readLibraryAccounts = async (
  database: Database,
  now: Date,
): Promise<readonly LibraryAccount[]> => {
  const found = await database.query<{ found: boolean }>(
    `select to_regclass('collecting.account') is not null as found`,
  );
  if (found.rows[0]?.found !== true) return [];
  const { rows } = await database.query<Row>(
    'select name, expires_at, access, percent, used_at from collecting.account order by name',
  );
  return rows.map(({ name, expires_at: expiresAt, access, percent, used_at: usedAt }) => ({
    account: name,
    state: access.kind,
    shut_until: access.kind === 'shut' ? new Date(access.untilMs).toISOString() : null,
    usage_percent: usedAt !== null && now.getTime() - usedAt.getTime() < USAGE_MS ? percent : null,
    token_ends_at: expiresAt.toISOString(),
    token_days_left: tokenDaysLeft({ expiresAt }, now),
    warning: accountWarning({ expiresAt, state: { access } }, now),
  }));
};
