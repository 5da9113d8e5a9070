import { hash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { IDLE_AFTER_MS, INTERVAL_HOURS } from '#application/collecting/target-states.ts';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { RowLeaseLost, leaseEndSql, leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';
import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import type { HostMemory, HostRest, StoredRobots, Validators } from '#platform/http-client/polite-client.ts';
import type { Clock } from '#platform/clock.ts';

type Rhythm = 'daily' | 'weekly' | 'idle';

const INTERVAL_MS: Readonly<Record<Rhythm, number>> = {
  daily: INTERVAL_HOURS.daily * HOUR_MS,
  weekly: INTERVAL_HOURS.weekly * HOUR_MS,
  idle: 30 * DAY_MS,
};
const SPREAD = 0.1;
const HASH_VALUES = 2 ** 32;

/** Returns a share from 0 to 1, constant per domain. */
const shareOf = (domain: string): number =>
  Number.parseInt(hash('sha256', domain).slice(0, 8), 16) / HASH_VALUES;

/** Up to a tenth of the interval early, by a hash of the domain, so that targets with a common start spread. */
export const nextDue = (target: {
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wishedAt: Date;
  readonly readAt: Date;
  /** Interval of a source of its own; `null` for that of the cadence. */
  readonly intervalMs?: number | null;
}): Date => {
  const { domain, cadence, wishedAt, readAt } = target;
  const isIdle = readAt.getTime() - wishedAt.getTime() > IDLE_AFTER_MS;
  const intervalMs = target.intervalMs ?? INTERVAL_MS[isIdle ? 'idle' : cadence];
  return new Date(readAt.getTime() + Math.round(intervalMs * (1 - SPREAD * shareOf(domain))));
};

const RETRY_FIRST_MS = 5 * 60_000;
const RETRY_MAX_MS = HOUR_MS;

export const retryDelayMs = (failures: number): number =>
  Math.min(RETRY_FIRST_MS * 2 ** Math.min(failures - 1, 10), RETRY_MAX_MS);

export type Wish = {
  readonly source: string;
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly at: Date;
  /** Due at once, for wishes of operators. */
  readonly isUrgent: boolean;
};

export type Claimed = {
  readonly source: string;
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wishedAt: Date;
  readonly lastBatchId: string | null;
  readonly owner: string;
};

export const recordWish = async (database: Database, wish: Wish): Promise<void> => {
  const { source, domain, cadence, at, isUrgent } = wish;
  await database.query(
    `insert into collecting.target as t (source, domain, cadence, wished_at, due_at) values ($1, $2, $3, $4, $4)
     on conflict (source, domain) do update set cadence = excluded.cadence,
       wished_at = greatest(t.wished_at, excluded.wished_at),
       due_at = case when $5 then least(t.due_at, excluded.due_at) else t.due_at end`,
    [source, domain, cadence, at, isUrgent],
  );
};

type Row = {
  readonly source: string;
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wished_at: Date;
  readonly last_batch_id: string | null;
};

/** The most urgent: never read first, then by delay relative to the cadence. `null` when nothing is due. */
export const claimTarget = async (
  database: Database,
  options: {
    readonly sources: readonly string[];
    readonly owner: string;
    readonly now: Date;
    /** `null` for the clock of Postgres. Tests set it. */
    readonly leaseNow: Date | null;
    readonly weeklyFirst: boolean;
    readonly domain?: string;
  },
): Promise<Claimed | null> => {
  const { sources, owner, now, leaseNow, weeklyFirst, domain = null } = options;
  const { rows } = await database.query<Row>(
    `update collecting.target t set lease_owner = $2, lease_until = ${leaseEndSql('$4')}
     from (
       select source, domain from collecting.target
       where source = any($1) and paused is null and due_at <= $3 and coalesce(retry_at, $3) <= $3
         and (lease_until is null or lease_until <= ${leaseTimeSql('$4')}) and ($6::text is null or domain = $6)
       order by $5 and cadence <> 'weekly', scanned_at is not null,
         extract(epoch from $3::timestamptz - due_at)
           / case cadence when 'daily' then ${SLO_HOURS.daily} else ${SLO_HOURS.weekly} end desc, source, domain
       limit 1 for update skip locked
     ) next where t.source = next.source and t.domain = next.domain
     returning t.source, t.domain, t.cadence, t.wished_at, t.last_batch_id`,
    [sources, owner, now, leaseNow, weeklyFirst, domain],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { wished_at: wishedAt, last_batch_id: lastBatchId, ...target } = row;
  return { ...target, wishedAt, lastBatchId, owner };
};

const changeOwned = async (
  client: Database | Transaction,
  { source, domain, owner }: Claimed,
  set: string,
  values: readonly unknown[],
): Promise<void> => {
  const { rowCount } = await client.query(
    `update collecting.target set ${set} where source = $1 and domain = $2 and lease_owner = $3`,
    [source, domain, owner, ...values],
  );
  if (rowCount !== 1) throw new RowLeaseLost(domain);
};

/** Throws `RowLeaseLost`. */
export const extendLease = (
  client: Database | Transaction,
  claimed: Claimed,
  leaseNow: Date | null,
): Promise<void> => changeOwned(client, claimed, `lease_until = ${leaseEndSql('$4')}`, [leaseNow]);

/** Ends a lease early, so that another process continues at once. Throws `RowLeaseLost`. */
export const releaseLease = (database: Database, claimed: Claimed): Promise<void> =>
  changeOwned(database, claimed, 'lease_owner = null, lease_until = null', []);

export type Attempt = { readonly at: Date; readonly outcome: string; readonly detail: string | null };

export const DETAIL_MAX_LENGTH = 500;

const recordAttempt = async (
  client: Transaction,
  { source, domain }: Claimed,
  attempt: Attempt,
): Promise<void> => {
  await client.query(
    `with target as (
       update collecting.target set tried_at = $1, outcome = $4, detail = $5 where source = $2 and domain = $3
     ) insert into collecting.attempt (at, source, domain, outcome, detail) values ($1, $2, $3, $4, $5)`,
    [attempt.at, source, domain, attempt.outcome, attempt.detail?.slice(0, DETAIL_MAX_LENGTH) ?? null],
  );
};

/** Returns a target until `retryAt`, with its batch. Throws `RowLeaseLost`. */
export const putBack = (
  database: Database,
  claimed: Claimed,
  retryAt: Date,
  attempt: Attempt,
): Promise<void> =>
  inTransaction(database, async (client) => {
    await changeOwned(client, claimed, 'lease_owner = null, lease_until = null, retry_at = $4', [retryAt]);
    await client.query(
      'update collecting.batch set failures = failures + 1 where source = $1 and domain = $2',
      [claimed.source, claimed.domain],
    );
    await recordAttempt(client, claimed, attempt);
  });

/** `readAt`: time of the published scan or `null`. Keeps its pages for conditional requests. Throws `RowLeaseLost`. */
export const finishBatch = (
  database: Database,
  claimed: Claimed,
  end: {
    readonly batchId: string;
    readonly readAt: Date | null;
    readonly dueAt: Date;
    readonly attempt: Attempt;
  },
): Promise<void> =>
  inTransaction(database, async (client) => {
    const { batchId, readAt, dueAt, attempt } = end;
    await changeOwned(
      client,
      claimed,
      `lease_owner = null, lease_until = null, retry_at = null, due_at = $4, scanned_at = coalesce($5, scanned_at),
       last_batch_id = case when $5::timestamptz is null then last_batch_id else $6 end`,
      [dueAt, readAt, batchId],
    );
    await client.query('delete from collecting.batch where batch_id = $1', [batchId]);
    await client.query('delete from collecting.spool where batch_id = $1', [
      readAt === null ? batchId : claimed.lastBatchId,
    ]);
    await recordAttempt(client, claimed, attempt);
  });

const ATTEMPT_DAYS_MAX = 30;

export const deleteOldAttempts = async (database: Database, now: Date): Promise<void> => {
  await database.query(
    'delete from collecting.attempt where at < $1::timestamptz - make_interval(days => $2)',
    [now, ATTEMPT_DAYS_MAX],
  );
};

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export type SpoolPage = { readonly page: number; readonly text: string; readonly validators: Validators };

/** Each commit throws `RowLeaseLost` without the lease. */
export type OpenBatch<Cursor> = {
  readonly batchId: string;
  readonly startedAt: Date;
  readonly failures: number;
  /** `null` at the beginning of the scan. */
  readonly cursor: Cursor | null;
  /** Commits the cursor together with the page that was read. */
  commit(cursor: Cursor, page: SpoolPage | null): Promise<void>;
  /** Discards all pages and continues at `cursor`. */
  restart(cursor: Cursor): Promise<void>;
  pages(): Promise<readonly SpoolPage[]>;
  /** Page of the batch that was published before; `null` without one. */
  previousPage(page: number): Promise<SpoolPage | null>;
};

type SpoolRow = {
  readonly page: number;
  readonly body: Buffer;
  readonly etag: string | null;
  readonly last_modified: string | null;
};

const pageOf = async ({ page, body, etag, last_modified: lastModified }: SpoolRow): Promise<SpoolPage> => ({
  page,
  text: (await decompress(body)).toString('utf8'),
  validators: { etag, lastModified },
});

const SPOOL_PAGES = 'select page, body, etag, last_modified from collecting.spool where batch_id = $1';

export const readLastPages = async (
  database: Database,
  source: string,
  domain: string,
): Promise<readonly SpoolPage[]> => {
  const { rows } = await database.query<SpoolRow>(
    `${SPOOL_PAGES.replace('$1', '(select last_batch_id from collecting.target where source = $1 and domain = $2)')} order by page`,
    [source, domain],
  );
  return Promise.all(rows.map(pageOf));
};

/** Opens the batch that another owner left, or a new one. */
export const openBatch = async <Cursor extends object>(
  database: Database,
  claimed: Claimed,
  { clock, leaseNow }: { readonly clock: Clock; readonly leaseNow: () => Date | null },
): Promise<OpenBatch<Cursor>> => {
  const { source, domain, lastBatchId } = claimed;
  const { rows } = await database.query<{
    batch_id: string;
    started_at: Date;
    failures: number;
    cursor: Partial<Cursor>;
  }>(
    `insert into collecting.batch as b (batch_id, source, domain, started_at) values ($1, $2, $3, $4)
     on conflict (source, domain) do update set failures = b.failures
     returning batch_id, started_at, failures, cursor`,
    [randomUUID(), source, domain, clock.now()],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`No batch was opened for ${domain}.`);
  const { batch_id: batchId, started_at: startedAt, failures, cursor } = row;

  const write = (next: Cursor, page: SpoolPage | null, discards: boolean): Promise<void> =>
    inTransaction(database, async (client) => {
      await extendLease(client, claimed, leaseNow());
      if (discards) await client.query('delete from collecting.spool where batch_id = $1', [batchId]);
      if (page !== null) {
        await client.query(
          `insert into collecting.spool (batch_id, page, body, etag, last_modified) values ($1, $2, $3, $4, $5)`,
          [
            batchId,
            page.page,
            await compress(page.text),
            page.validators.etag?.slice(0, 1_000) ?? null,
            page.validators.lastModified?.slice(0, 100) ?? null,
          ],
        );
      }
      await client.query('update collecting.batch set cursor = $2, failures = 0 where batch_id = $1', [
        batchId,
        JSON.stringify(next),
      ]);
    });

  return {
    batchId,
    startedAt,
    failures,
    cursor: Object.keys(cursor).length === 0 ? null : (cursor as Cursor),
    commit: (next, page) => write(next, page, false),
    restart: (next) => write(next, null, true),
    pages: async () => {
      const spooled = await database.query<SpoolRow>(`${SPOOL_PAGES} order by page`, [batchId]);
      return Promise.all(spooled.rows.map(pageOf));
    },
    previousPage: async (page) => {
      if (lastBatchId === null) return null;
      const spooled = await database.query<SpoolRow>(`${SPOOL_PAGES} and page = $2`, [lastBatchId, page]);
      return spooled.rows[0] === undefined ? null : pageOf(spooled.rows[0]);
    },
  };
};

/** Shared by all collectors. */
export const createHostStore = (database: Database): HostMemory => {
  const read = async <T>(column: 'robots' | 'rest', host: string): Promise<T | null> => {
    const { rows } = await database.query<{ value: T | null }>(
      `select ${column} as value from collecting.host where host = $1`,
      [host],
    );
    return rows[0]?.value ?? null;
  };
  const write = async (column: 'robots' | 'rest', host: string, value: object | null): Promise<void> => {
    await database.query(
      `insert into collecting.host (host, ${column}) values ($1, $2)
       on conflict (host) do update set ${column} = excluded.${column}`,
      [host, value === null ? null : JSON.stringify(value)],
    );
  };
  return {
    readRobots: (host) => read<StoredRobots>('robots', host),
    writeRobots: (host, robots) => write('robots', host, robots),
    readRest: (host) => read<HostRest>('rest', host),
    writeRest: (host, rest) => write('rest', host, rest),
    reserve: async (host, spacingMs, nowMs) => {
      // `next_at`: earliest start of the next request. The row lock serialises reservations.
      const { rows } = await database.query<{ start: Date }>(
        `insert into collecting.host as h (host, next_at) values ($1, to_timestamp($2::float8 / 1000) + make_interval(secs => $3::float8 / 1000))
         on conflict (host) do update set next_at =
           greatest(h.next_at, to_timestamp($2::float8 / 1000)) + make_interval(secs => $3::float8 / 1000)
         returning next_at - make_interval(secs => $3::float8 / 1000) as start`,
        [host, nowMs, spacingMs],
      );
      return rows[0]?.start.getTime() ?? nowMs;
    },
  };
};
