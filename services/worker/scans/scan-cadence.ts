import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import {
  type Database,
  type Transaction,
  inTransaction,
  openPool,
  withProof,
} from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import type { ScrapeRequested } from '#contracts/messages/subjects.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { FENCED_CONNECTION, proveLease } from '#platform/postgres/lease/leases.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { type DueScan, listDue } from '#projections/freshness/read.ts';
import { type WantedScan, listWantedScans } from '#projections/queries/brand-requests.ts';

/** Hours until a due brand is requested again; they double with each request without a scan. */
export const FIRST_AGAIN_HOURS = 6;
export const AGAIN_HOURS_MAX = 72;
/** Rows of brands that are no longer due are deleted after this time. */
const FORGOTTEN_AFTER_DAYS = 30;

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

export const createScanRequestTables = (database: Database): Promise<void> =>
  installSchema(database, {
    lock: ADVISORY_LOCKS.scanRequestSchema,
    sql: SCHEMA,
    fingerprintOn: 'scan_requests',
  });

/** `scanned_at`: ISO time of the last scan; `null` before the first. */
export type DueBrand = { readonly brand_id: string; readonly scanned_at: string | null };

const REQUESTED_LATELY = `
  select r.brand_id from scan_requests.brand r
  join unnest($1::uuid[], $2::timestamptz[]) as due (brand_id, scanned_at) using (brand_id)
  where r.next_at > $3 and r.scanned_at is not distinct from due.scanned_at`;

/** Omits brands that were requested recently and not scanned since. */
export const mayBeRequested = async <Due extends DueBrand>(
  database: Database,
  due: readonly Due[],
  now: Date,
): Promise<readonly Due[]> => {
  const { rows } = await database.query<{ brand_id: string }>({
    name: 'brands that were requested lately',
    text: REQUESTED_LATELY,
    values: [due.map(({ brand_id }) => brand_id), due.map(({ scanned_at }) => scanned_at), now.toISOString()],
  });
  const waiting = new Set(rows.map(({ brand_id }) => brand_id));
  return due.filter(({ brand_id }) => !waiting.has(brand_id));
};

const NOTE = `
  insert into scan_requests.brand as r (brand_id, scanned_at, requests, next_at)
  select brand_id, scanned_at, 1, $3::timestamptz + interval '${FIRST_AGAIN_HOURS} hours'
  from unnest($1::uuid[], $2::timestamptz[]) as due (brand_id, scanned_at)
  order by brand_id
  on conflict (brand_id) do update set
    scanned_at = excluded.scanned_at,
    requests = case when r.scanned_at is not distinct from excluded.scanned_at then r.requests + 1 else 1 end,
    next_at = case when r.scanned_at is not distinct from excluded.scanned_at
      then $3::timestamptz + least(
        interval '${FIRST_AGAIN_HOURS} hours' * (2 ^ least(r.requests, 10)), interval '${AGAIN_HOURS_MAX} hours')
      else excluded.next_at end`;

/** Also deletes rows of brands that have not been due for long. */
export const noteRequested = async (
  client: Transaction,
  brands: readonly DueBrand[],
  now: Date,
): Promise<void> => {
  await client.query({
    name: 'note requested scans',
    text: NOTE,
    values: [
      brands.map(({ brand_id }) => brand_id),
      brands.map(({ scanned_at }) => scanned_at),
      now.toISOString(),
    ],
  });
  await client.query(
    `delete from scan_requests.brand where next_at < $1::timestamptz - interval '${FORGOTTEN_AFTER_DAYS} days'`,
    [now.toISOString()],
  );
};

/** One worker at a time requests scans. */
const ROLE = 'scan_requests';
const POLL_INTERVAL_MS = 60_000;
const POOL_CLIENTS = 1;

export type PollSizes = { readonly pageSize: number; readonly requestsMax: number };
const SIZES: PollSizes = { pageSize: 1_000, requestsMax: 1_000 };

export type DueScanDependencies = {
  readonly db: ReadDatabase;
  readonly database: Database;
  readonly clock: Clock;
  readonly publish: (request: ScrapeRequested, messageId: string) => Promise<void>;
};

/** Collectors find the domain of a registered brand by its id. */
const scrapeOf = (due: DueScan | WantedScan, requested_at: string): ScrapeRequested => {
  const { brand_id, cadence } = due;
  const scrape = { brand_id, cadence, requested_at };
  if (!('domain' in due)) return scrape;
  return { ...scrape, brand_domain: due.domain, ...(due.pages === null ? {} : { pages: due.pages }) };
};

const requestSome = async (
  { database, publish }: DueScanDependencies,
  due: readonly (DueScan | WantedScan)[],
  now: Date,
): Promise<void> => {
  const slot = Math.floor(now.getTime() / (FIRST_AGAIN_HOURS * HOUR_MS));
  for (const scan of due) await publish(scrapeOf(scan, now.toISOString()), `due-${scan.brand_id}-${slot}`);
  await inTransaction(database, (client) => noteRequested(client, due, now));
};

/** Waiting brands are excluded before the limit, so that they do not block others. */
const requestListed = async <Due extends DueScan | WantedScan>(
  dependencies: DueScanDependencies,
  now: Date,
  { pageSize, requestsMax }: PollSizes,
  list: (after: Due | null) => Promise<readonly Due[]>,
): Promise<number> => {
  const { database } = dependencies;
  let requested = 0;
  let after: Due | null = null;
  while (requested < requestsMax) {
    const page: readonly Due[] = await list(after);
    const wanted = (await mayBeRequested(database, page, now)).slice(0, requestsMax - requested);
    if (wanted.length > 0) await requestSome(dependencies, wanted, now);
    requested += wanted.length;
    after = page.at(-1) ?? null;
    if (page.length < pageSize) break;
  }
  return requested;
};

/** Tracked brands, longest unscanned first, then domains of accepted brand requests. */
export const requestDueScans = async (
  dependencies: DueScanDependencies,
  sizes: PollSizes = SIZES,
): Promise<number> => {
  const { db, clock } = dependencies;
  const now = clock.now();
  const { pageSize } = sizes;
  const due = await requestListed<DueScan>(dependencies, now, sizes, (after) =>
    listDue(db, now.toISOString(), pageSize, after),
  );
  const wanted = await requestListed<WantedScan>(dependencies, now, sizes, (after) =>
    listWantedScans(db, pageSize, after),
  );
  return due + wanted;
};

export type ScanRequests = Omit<DueScanDependencies, 'database'> & {
  readonly databaseUrl: string;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Requests due scans each minute, in one worker at a time. Repeated requests after a crash are harmless. */
export const requestScansWhenDue = async ({
  databaseUrl,
  log,
  signal,
  ...dependencies
}: ScanRequests): Promise<void> => {
  const pool = openPool(databaseUrl, POOL_CLIENTS, { options: FENCED_CONNECTION });
  try {
    await runAsLeader({
      databaseUrl,
      kind: ROLE,
      log,
      signal,
      run: async (leading, lease) => {
        await createScanRequestTables(pool);
        const database = withProof(pool, (client) => proveLease(client, lease));
        while (!leading.aborted) {
          try {
            const brands = await requestDueScans({ ...dependencies, database });
            if (brands > 0) log.info({ brands }, 'scans requested');
          } catch (error) {
            log.warn({ reason: (error as Error).message }, 'scan requests failed; retrying');
          }
          await pause(POLL_INTERVAL_MS, leading);
        }
      },
    });
  } finally {
    await pool.end();
  }
};
