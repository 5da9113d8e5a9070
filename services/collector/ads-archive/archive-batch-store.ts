import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import { PAGE_PAUSE_DAYS } from '#application/collecting/plan-sources.ts';
import { RowLeaseLost } from '#platform/postgres/lease/row-lease.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { DETAIL_MAX_LENGTH, type OpenBatch, type SpoolPage } from '../schedule/target-store.ts';
import type { ArchiveCursor, RefusedPage } from './archive-client.ts';
import type { ScannedBrand } from './archive-scan.ts';

export const ARCHIVE_SOURCE = 'ads_archive';
/** A longer batch is published as partial. */
export const BATCH_LIMIT_MS = 6 * HOUR_MS;
/** Longer than any batch: the end of a batch frees its targets, and only one process opens batches. */
const TARGET_LEASE_MS = DAY_MS;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Each commit throws `RowLeaseLost` unless this owner reads the batch. */
export type ArchiveBatch = Pick<OpenBatch<ArchiveCursor>, 'startedAt' | 'cursor' | 'commit' | 'pages'> & {
  readonly batchId: string;
  readonly owner: string;
  /** A look reads the first reply only. */
  readonly kind: 'scan' | 'look';
  readonly brands: readonly ScannedBrand[];
  readonly countries: readonly string[];
  readonly adsBefore: ReadonlyMap<string, number>;
  /** Earliest time at which known ads may have ended; `null` before the first scan. */
  readonly stopsSince: Date | null;
  readonly failures: number;
};

export type BatchOwner = { readonly owner: string; readonly account: string };

type Row = {
  readonly batch_id: string;
  readonly kind: 'scan' | 'look';
  readonly brands: readonly ScannedBrand[];
  readonly countries: readonly string[];
  readonly ads_before: Readonly<Record<string, number>>;
  readonly last_complete_at: Date | null;
  readonly started_at: Date;
  readonly failures: number;
  readonly cursor: Partial<ArchiveCursor>;
};

const batchOf = (database: Database, owner: string, row: Row): ArchiveBatch => {
  const { batch_id: batchId, cursor } = row;
  return {
    batchId,
    owner,
    kind: row.kind,
    brands: row.brands,
    countries: row.countries,
    adsBefore: new Map(Object.entries(row.ads_before)),
    stopsSince: row.last_complete_at,
    startedAt: row.started_at,
    failures: row.failures,
    cursor: Object.keys(cursor).length === 0 ? null : (cursor as ArchiveCursor),
    commit: async (next, page) => {
      const body = page === null ? null : await compress(page.text);
      await inTransaction(database, async (client) => {
        const { rowCount } = await client.query(
          'update collecting.archive_batch set cursor = $3, failures = 0 where batch_id = $1 and owner = $2',
          [batchId, owner, JSON.stringify(next)],
        );
        if (rowCount !== 1) throw new RowLeaseLost(`batch ${batchId}`);
        if (page === null) return;
        await client.query('insert into collecting.spool (batch_id, page, body) values ($1, $2, $3)', [
          batchId,
          page.page,
          body,
        ]);
      });
    },
    pages: async () => {
      const { rows } = await database.query<{ page: number; body: Buffer }>(
        'select page, body from collecting.spool where batch_id = $1 order by page',
        [batchId],
      );
      const read = async ({ page, body }: { page: number; body: Buffer }): Promise<SpoolPage> => ({
        page,
        text: (await decompress(body)).toString('utf8'),
        validators: { etag: null, lastModified: null },
      });
      return Promise.all(rows.map(read));
    },
  };
};

/** `null` when no batch is ready. `onlyEnded` takes a batch whose time is over, which needs no call. */
export const takeBatch = async (
  database: Database,
  { owner, account, now, onlyEnded }: BatchOwner & { readonly now: Date; readonly onlyEnded: boolean },
): Promise<ArchiveBatch | null> => {
  const { rows } = await inTransaction(database, (client) =>
    client.query<Row>(
      `update collecting.archive_batch b set owner = $1, retry_at = null
       from (
         select batch_id from collecting.archive_batch
         where account = $5 and coalesce(retry_at, $2) <= $2 and (not $3 or started_at <= $4) order by started_at limit 1 for update
       ) next where b.batch_id = next.batch_id returning b.*`,
      [owner, now, onlyEnded, new Date(now.getTime() - BATCH_LIMIT_MS), account],
    ),
  );
  return rows[0] === undefined ? null : batchOf(database, owner, rows[0]);
};

/** Most urgent first, by the same rule as the other sources. */
export const dueDomains = async (
  database: Database,
  now: Date,
  options: { readonly weeklyFirst: boolean; readonly limit: number },
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ domain: string }>(
    `select domain from collecting.target
     where source = $1 and paused is null and due_at <= $2 and coalesce(retry_at, $2) <= $2
       and coalesce(lease_until, $2) <= $2
     order by $3 and cadence <> 'weekly', scanned_at is not null,
       extract(epoch from $2::timestamptz - due_at)
         / case cadence when 'daily' then ${SLO_HOURS.daily} else ${SLO_HOURS.weekly} end desc, domain
     limit $4`,
    [ARCHIVE_SOURCE, now, options.weeklyFirst, options.limit],
  );
  return rows.map(({ domain }) => domain);
};

/** Returns what decides when targets are due again. */
export const readCadences = async (
  database: Database,
  domains: readonly string[],
): Promise<readonly { domain: string; cadence: 'daily' | 'weekly'; wishedAt: Date }[]> => {
  const { rows } = await database.query<{ domain: string; cadence: 'daily' | 'weekly'; wished_at: Date }>(
    'select domain, cadence, wished_at from collecting.target where source = $1 and domain = any($2)',
    [ARCHIVE_SOURCE, domains],
  );
  return rows.map(({ wished_at: wishedAt, ...target }) => ({ ...target, wishedAt }));
};

export const readPageAds = async (
  database: Database,
  pageIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await database.query<{ social_page_id: string; ads: number }>(
    'select social_page_id, ads from collecting.archive_page where social_page_id = any($1)',
    [pageIds],
  );
  return new Map(rows.map(({ social_page_id, ads }) => [social_page_id, ads]));
};

export const readPausedPages = async (
  database: Database,
  pageIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await database.query<{ social_page_id: string; paused: string }>(
    'select social_page_id, paused from collecting.archive_page where social_page_id = any($1) and paused_at > $2',
    [pageIds, new Date(now.getTime() - PAGE_PAUSE_DAYS * DAY_MS)],
  );
  return new Map(rows.map(({ social_page_id, paused }) => [social_page_id, paused]));
};

/** Start of the oldest last complete scan with ended ads among these brands, else of a brand's first scan. */
const readStopsSince = async (client: Transaction, brands: readonly ScannedBrand[]): Promise<Date | null> => {
  const { rows } = await client.query<{ since: Date | null }>(
    `select least(
       (select min(coalesce(stops_since, complete_at)) from collecting.target
         where source = $1 and domain = any($2)),
       (select min(scanned_at) from collecting.archive_page where social_page_id = any($3))
     ) as since`,
    [ARCHIVE_SOURCE, brands.map(({ domain }) => domain), brands.flatMap(({ pageIds }) => pageIds)],
  );
  return rows[0]?.since ?? null;
};

/** Omits brands that are leased already; `null` when none is left. */
export const openArchiveBatch = (
  database: Database,
  { owner, account }: BatchOwner,
  now: Date,
  scope: {
    readonly brands: readonly ScannedBrand[];
    readonly countries: readonly string[];
    readonly adsBefore: ReadonlyMap<string, number>;
    readonly kind?: ArchiveBatch['kind'];
  },
): Promise<ArchiveBatch | null> =>
  inTransaction(database, async (client) => {
    const batchId = randomUUID();
    const leased = await client.query<{ domain: string }>(
      `update collecting.target set lease_owner = $4, lease_until = $5
       where source = $1 and domain = any($2) and paused is null and coalesce(lease_until, $3) <= $3
       returning domain`,
      [
        ARCHIVE_SOURCE,
        scope.brands.map(({ domain }) => domain),
        now,
        batchId,
        new Date(now.getTime() + TARGET_LEASE_MS),
      ],
    );
    const brands = scope.brands.filter(({ domain }) => leased.rows.some((row) => row.domain === domain));
    if (brands.length === 0) return null;
    const stopsSince = await readStopsSince(client, brands);
    const { rows } = await client.query<Row>(
      `insert into collecting.archive_batch
         (batch_id, owner, brands, countries, ads_before, last_complete_at, started_at, account, kind)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning *`,
      [
        batchId,
        owner,
        JSON.stringify(brands),
        scope.countries,
        JSON.stringify(Object.fromEntries(scope.adsBefore)),
        stopsSince,
        now,
        account,
        scope.kind ?? 'scan',
      ],
    );
    return batchOf(database, owner, rows[0] as Row);
  });

export type BrandEnd = {
  readonly domain: string;
  readonly dueAt: Date;
  readonly outcome: string;
  readonly detail: string;
  /** Whether a scan was published, and whether it was complete. */
  readonly published: boolean;
};

const END_TARGET = `
  with ended as (
    update collecting.target set lease_owner = null, lease_until = null, retry_at = null, due_at = $3, tried_at = $4,
      outcome = $5, detail = $6, scanned_at = case when $7 then $8 else scanned_at end,
      complete_at = case when $7 and $5 = 'complete' then $8 else complete_at end,
      stops_since = case when $7 and (stops_since is null or ($5 = 'complete' and $9)) then $8 else stops_since end
    where source = $1 and domain = $2
  ) insert into collecting.attempt (at, source, domain, outcome, detail) values ($4, $1, $2, $5, $6)`;

export const endBrands = (database: Database, ends: readonly BrandEnd[], now: Date): Promise<void> =>
  inTransaction(database, async (client) => {
    for (const { domain, dueAt, outcome, detail, published } of ends) {
      const shown = detail.slice(0, DETAIL_MAX_LENGTH);
      const values = [ARCHIVE_SOURCE, domain, dueAt, now, outcome, shown, published, null, false];
      await client.query(END_TARGET, values);
    }
  });

export const removeBatch = async (
  client: Transaction,
  { batchId, owner }: Pick<ArchiveBatch, 'batchId' | 'owner'>,
): Promise<void> => {
  const { rowCount } = await client.query(
    'delete from collecting.archive_batch where batch_id = $1 and owner = $2',
    [batchId, owner],
  );
  if (rowCount !== 1) throw new RowLeaseLost(`batch ${batchId}`);
  await client.query('delete from collecting.spool where batch_id = $1', [batchId]);
};

export type PageAds = { readonly ads: number; readonly newest: readonly string[] };

/** `pageAds`: pages scanned completely. `refused`: to be paused. `stopsRead`: with ended ads. Throws `RowLeaseLost`. */
export const finishArchiveBatch = (
  database: Database,
  batch: ArchiveBatch,
  ends: readonly BrandEnd[],
  {
    pageAds,
    refused,
    stopsRead,
  }: {
    readonly pageAds: ReadonlyMap<string, PageAds>;
    readonly refused: readonly RefusedPage[];
    readonly stopsRead: boolean;
  },
  now: Date,
): Promise<void> =>
  inTransaction(database, async (client) => {
    const { startedAt, brands } = batch;
    await removeBatch(client, batch);
    for (const { domain, dueAt, outcome, detail, published } of ends) {
      const shown = detail.slice(0, DETAIL_MAX_LENGTH);
      await client.query(END_TARGET, [
        ARCHIVE_SOURCE,
        domain,
        dueAt,
        now,
        outcome,
        shown,
        published,
        startedAt,
        stopsRead,
      ]);
    }
    await client.query(
      `insert into collecting.archive_page (social_page_id, ads, newest, scanned_at)
       select p.social_page_id, p.ads, string_to_array(p.newest, ','), $4
       from unnest($1::text[], $2::int[], $3::text[]) as p (social_page_id, ads, newest)
       on conflict (social_page_id) do update set ads = excluded.ads, newest = excluded.newest,
         scanned_at = excluded.scanned_at, paused = null, paused_at = null, paused_of = '{}'`,
      [
        [...pageAds.keys()],
        [...pageAds.values()].map(({ ads }) => ads),
        [...pageAds.values()].map(({ newest }) => newest.join(',')),
        startedAt,
      ],
    );
    for (const { page_id: pageId, message } of refused) {
      const domains = brands.flatMap(({ domain, pageIds }) => (pageIds.includes(pageId) ? [domain] : []));
      await client.query(
        `insert into collecting.archive_page (social_page_id, ads, scanned_at, paused, paused_at, paused_of)
         values ($1, 0, $2, $3, $4, $5)
         on conflict (social_page_id) do update set paused = excluded.paused, paused_at = excluded.paused_at,
           paused_of = excluded.paused_of`,
        [pageId, startedAt, message.slice(0, DETAIL_MAX_LENGTH), now, domains],
      );
    }
  });

export const putBackBatch = async (
  database: Database,
  { batchId, owner, brands }: ArchiveBatch,
  retryAt: Date,
  attempt: { readonly at: Date; readonly outcome: string; readonly detail: string },
): Promise<void> =>
  inTransaction(database, async (client) => {
    const { rowCount } = await client.query(
      `update collecting.archive_batch set retry_at = $3, failures = failures + 1 where batch_id = $1 and owner = $2`,
      [batchId, owner, retryAt],
    );
    if (rowCount !== 1) throw new RowLeaseLost(`batch ${batchId}`);
    const { at, outcome, detail } = attempt;
    await client.query(
      `with tried as (
         update collecting.target set tried_at = $1, outcome = $4, detail = $5 where source = $2 and domain = any($3)
       ) insert into collecting.attempt (at, source, domain, outcome, detail)
       select $1, $2, domain, $4, $5 from unnest($3::text[]) as domain`,
      [at, ARCHIVE_SOURCE, brands.map(({ domain }) => domain), outcome, detail.slice(0, DETAIL_MAX_LENGTH)],
    );
  });
