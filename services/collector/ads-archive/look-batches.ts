import { adsBeforeKnown, isNewestFirst } from '#domain/collecting/looks.ts';
import { halvedPage } from '#domain/collecting/pace.ts';
import { IDLE_AFTER_MS } from '#application/collecting/target-states.ts';
import { DAY_MS, HOUR_MS, WEEK_MS } from '#contracts/values/time.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { BATCH_CANDIDATES_MAX, planArchive } from '#application/collecting/plan-archive.ts';
import { appsOf } from '#application/collecting/plan-sources.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import { fillBatch } from '#domain/collecting/pack-batches.ts';
import { collectorAttempts } from '#platform/telemetry/metrics.ts';
import { readLinkedPageIds } from '#projections/social-pages/read.ts';
import { type ArchiveCursor, PAGES_PER_CALL_MAX, atList, firstCursor } from './archive-client.ts';
import { type ArchiveScan, archiveScanOf, brandObservations } from './archive-scan.ts';
import { type ArchiveReading, type Reading, callWithTries, mapAnswer } from './read-archive.ts';
import { DETAIL_MAX_LENGTH } from '../schedule/target-store.ts';
import {
  ARCHIVE_SOURCE,
  type ArchiveBatch,
  BATCH_LIMIT_MS,
  openArchiveBatch,
  readPausedPages,
  removeBatch,
} from './archive-batch-store.ts';
import type { ArchiveRunner, Leading } from './archive-runner.ts';
import type { PacedAccount } from './paced-account.ts';

export type LookOutcome =
  /** `scan` holds new ads only and is never complete. */
  | { readonly kind: 'looked'; readonly scan: ArchiveScan; readonly isNewestFirst: boolean }
  | { readonly kind: 'missed'; readonly detail: string };

const committed = async (
  reading: ArchiveReading,
  cursor: ArchiveCursor,
): Promise<Extract<LookOutcome, { readonly kind: 'looked' }>> => {
  const scan = await archiveScanOf(reading.batch, cursor);
  return { kind: 'looked', scan: { ...scan, complete: false }, isNewestFirst: true };
};

/** `known`: ads of earlier scans, by page. */
export const readLook = async (
  reading: ArchiveReading,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<LookOutcome> => {
  const { batch, pageIds } = reading;
  if (batch.cursor !== null) return committed(reading, batch.cursor);
  let cursor: Reading = { ...firstCursor(pageIds), pass: 'active' };
  let answer = await callWithTries(reading, cursor, pageIds);
  for (let half = halvedPage(cursor.size); answer.kind === 'reduce' && half !== null; ) {
    cursor = { ...cursor, size: half };
    answer = await callWithTries(reading, cursor, pageIds);
    half = halvedPage(half);
  }
  if (answer.kind !== 'page') return { kind: 'missed', detail: answer.detail };
  const { ads } = mapAnswer(reading, 'active', pageIds, answer.ads);
  const inOrder = isNewestFirst(ads.map(({ started_on }) => started_on));
  const found = inOrder ? adsBeforeKnown(ads, known) : ads;
  const next = atList(cursor, { pass: 'done', groups: [], page: 1 });
  const text = JSON.stringify({ pass: 'active', list: 0, after: null, ads: found });
  await batch.commit(next, { page: 0, text, validators: { etag: null, lastModified: null } });
  return { ...(await committed(reading, next)), isNewestFirst: inOrder };
};

const LOOK_INTERVAL_MS = DAY_MS;
/** Pause of looks after a reply that was not newest first. */
const LOOKS_OFF_MS = WEEK_MS;

/** Daily brands with a complete scan, but no scan or look for a day; longest ago first. */
export const dueLooks = async (database: Database, now: Date, limit: number): Promise<readonly string[]> => {
  const { rows } = await database.query<{ domain: string }>(
    `select domain from collecting.target
     where source = $1 and cadence = 'daily' and wished_at > $2 and paused is null and complete_at is not null
       and coalesce(retry_at, $3) <= $3 and coalesce(lease_until, $3) <= $3
       and greatest(scanned_at, looked_at) <= $4
     order by greatest(scanned_at, looked_at), domain limit $5`,
    [
      ARCHIVE_SOURCE,
      new Date(now.getTime() - IDLE_AFTER_MS),
      now,
      new Date(now.getTime() - LOOK_INTERVAL_MS),
      limit,
    ],
  );
  return rows.map(({ domain }) => domain);
};

export const readNewestAds = async (
  database: Database,
  pageIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const { rows } = await database.query<{ social_page_id: string; newest: readonly string[] }>(
    'select social_page_id, newest from collecting.archive_page where social_page_id = any($1)',
    [pageIds],
  );
  return new Map(rows.map(({ social_page_id, newest }) => [social_page_id, new Set(newest)]));
};

export const areLooksOff = async (database: Database, now: Date): Promise<boolean> => {
  const { rows } = await database.query('select from collecting.account where looks_off_until > $1 limit 1', [
    now,
  ]);
  return rows.length > 0;
};

/** For all accounts, since they read the same library. */
export const turnLooksOff = (database: Database, now: Date): Promise<void> =>
  inTransaction(database, async (client) => {
    await client.query('update collecting.account set looks_off_until = $1', [
      new Date(now.getTime() + LOOKS_OFF_MS),
    ]);
  });

/** Keeps the time of the next scan. Throws `RowLeaseLost`. */
export const finishLook = (
  database: Database,
  batch: ArchiveBatch,
  detail: string,
  now: Date,
): Promise<void> =>
  inTransaction(database, async (client) => {
    await removeBatch(client, batch);
    await client.query(
      `with looked as (
         update collecting.target set lease_owner = null, lease_until = null, looked_at = $1
         where source = $2 and domain = any($3)
       ) insert into collecting.attempt (at, source, domain, outcome, detail)
       select $1, $2, domain, 'look', $4 from unnest($3::text[]) as domain`,
      [now, ARCHIVE_SOURCE, batch.brands.map(({ domain }) => domain), detail.slice(0, DETAIL_MAX_LENGTH)],
    );
  });

/** Interval of the check whether a round of scans fits into the calls. */
const RECKON_INTERVAL_MS = HOUR_MS;

/** True when a round of scans exceeds the calls of the accounts. */
export const needsLooks = async (
  { database, clock, callsPerHour }: ArchiveRunner,
  leading: Leading,
): Promise<boolean> => {
  const now = clock.now();
  if (now.getTime() - leading.reckonedMs >= RECKON_INTERVAL_MS) {
    leading.reckonedMs = now.getTime();
    const plan = await planArchive(database, now, callsPerHour * (await appsOf(database, now)));
    leading.needsLooks = plan !== null && plan.load > 1;
  }
  return leading.needsLooks && !(await areLooksOff(database, now));
};

/** Opens a look at daily brands; `null` when none is due. */
export const openLook = async (runner: ArchiveRunner, leading: Leading): Promise<ArchiveBatch | null> => {
  const { database, db, clock, countries } = runner;
  const now = clock.now();
  const domains = await dueLooks(database, now, BATCH_CANDIDATES_MAX);
  if (domains.length === 0) return null;
  const linked = await readLinkedPageIds(db, domains);
  const paused = await readPausedPages(database, [...linked.values()].flat(), now);
  const brands = fillBatch(
    domains
      .map((domain) => ({
        domain,
        pages: (linked.get(domain) ?? [])
          .filter((pageId) => !paused.has(pageId))
          .map((pageId) => ({ pageId, ads: 0 })),
      }))
      // One reply shows the newest ads of ten pages.
      .filter(({ pages }) => pages.length <= PAGES_PER_CALL_MAX),
  ).map(({ domain, pages }) => ({ domain, pageIds: pages.map(({ pageId }) => pageId) }));
  if (brands.length === 0) return null;
  leading.opened += 1;
  const owner = { owner: leading.owner, account: leading.name };
  return openArchiveBatch(database, owner, now, { brands, countries, adsBefore: new Map(), kind: 'look' });
};

/** Publishes new ads. A failed look is not repeated. */
export const lookAt = async (
  runner: ArchiveRunner,
  batch: ArchiveBatch,
  account: Pick<PacedAccount, 'call'>,
): Promise<void> => {
  const { database, nats, clock, log, signal, wait } = runner;
  const pageIds = [...new Set(batch.brands.flatMap((brand) => brand.pageIds))];
  const outcome = await readLook(
    {
      batch,
      pageIds,
      countries: batch.countries,
      adsBefore: batch.adsBefore,
      stopsSince: batch.stopsSince,
      account,
      endsMs: batch.startedAt.getTime() + BATCH_LIMIT_MS,
      now: () => clock.now(),
      wait,
      signal,
    },
    await readNewestAds(database, pageIds),
  );
  const now = clock.now();
  if (outcome.kind === 'missed') return finishLook(database, batch, `not looked: ${outcome.detail}`, now);
  if (!outcome.isNewestFirst) {
    await turnLooksOff(database, now);
    log.warn({ source: ARCHIVE_SOURCE }, 'looks are off for a week: an answer was not newest first');
  }
  const { startedAt, countries } = batch;
  for (const brand of batch.brands) {
    if (!outcome.scan.ads.some(({ page_id }) => brand.pageIds.includes(page_id))) continue;
    await publishObservations(nats, brandObservations(outcome.scan, brand, { startedAt, countries }));
  }
  await finishLook(database, batch, `${outcome.scan.ads.length} new ads`, now);
  for (const _ of batch.brands) collectorAttempts.inc({ source: ARCHIVE_SOURCE, outcome: 'look' });
};
