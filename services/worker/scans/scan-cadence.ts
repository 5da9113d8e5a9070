import { HOUR_MS } from '#contracts/values/time.ts';
import type { ScrapeRequested } from '#contracts/messages/subjects.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { FENCED_CONNECTION, proveLease } from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction, openPool, withProof } from '#platform/postgres/pool.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { type DueScan, listDue } from '#projections/freshness/read.ts';
import {
  createScanRequestTables,
  FIRST_AGAIN_HOURS,
  mayBeRequested,
  noteRequested,
} from './requested-brands.ts';

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

const requestSome = async (
  { database, publish }: DueScanDependencies,
  due: readonly DueScan[],
  now: Date,
): Promise<void> => {
  const slot = Math.floor(now.getTime() / (FIRST_AGAIN_HOURS * HOUR_MS));
  for (const { brand_id, cadence } of due)
    await publish({ brand_id, cadence, requested_at: now.toISOString() }, `due-${brand_id}-${slot}`);
  await inTransaction(database, (client) => noteRequested(client, due, now));
};

/** Longest unscanned first. Waiting brands are excluded before the limit, so that they do not block others. */
export const requestDueScans = async (
  dependencies: DueScanDependencies,
  { pageSize, requestsMax }: PollSizes = SIZES,
): Promise<number> => {
  const { db, database, clock } = dependencies;
  const now = clock.now();
  let requested = 0;
  let after: DueScan | null = null;
  while (requested < requestsMax) {
    const page: readonly DueScan[] = await listDue(db, now.toISOString(), pageSize, after);
    const wanted = (await mayBeRequested(database, page, now)).slice(0, requestsMax - requested);
    if (wanted.length > 0) await requestSome(dependencies, wanted, now);
    requested += wanted.length;
    after = page.at(-1) ?? null;
    if (page.length < pageSize) break;
  }
  return requested;
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
