import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { ArchiveAccess } from '#domain/collecting/pace.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Operators are warned this long before a token ends. */
const WARNING_DAYS = 10;
/** A usage that was reported longer ago says nothing. */
const USAGE_MS = HOUR_MS;

/** `open`: calls are made; `shut`: it rests after a limit; `off`: its token is refused. */
export const ACCOUNT_STATES = ['open', 'shut', 'off'] as const;

export type AccountValidity = {
  readonly expiresAt: Date;
  readonly state: { readonly access: ArchiveAccess };
};

export const tokenDaysLeft = ({ expiresAt }: Pick<AccountValidity, 'expiresAt'>, now: Date): number =>
  Math.floor((expiresAt.getTime() - now.getTime()) / DAY_MS);

/** `null` when operators need not act. */
export const accountWarning = (account: AccountValidity, now: Date): string | null => {
  const { access } = account.state;
  const advice = 'Get a new token of an identity-confirmed person and store it with: collect token set';
  if (access.kind === 'off') return `The account is off: ${access.reason}. ${advice}`;
  const days = tokenDaysLeft(account, now);
  if (days < 0) return `The token has ended. ${advice}`;
  return days < WARNING_DAYS ? `The token ends in ${days} days. ${advice}` : null;
};

export type LibraryAccount = {
  readonly account: string;
  readonly state: (typeof ACCOUNT_STATES)[number];
  readonly shut_until: string | null;
  /** Reported by the platform within the last hour; `null` without a report. */
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

/** Sorted by name; none before a token was stored. */
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
