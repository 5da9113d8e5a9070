import { BATCH_CANDIDATES_MAX, planArchive } from '#application/collecting/plan-archive.ts';
import { appsOf } from '#application/collecting/plan-sources.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import { fillBatch } from '#domain/collecting/pack-batches.ts';
import { collectorAttempts } from '#platform/telemetry/metrics.ts';
import { readLinkedPageIds } from '#projections/social-pages/read.ts';
import {
  ARCHIVE_SOURCE,
  type ArchiveBatch,
  BATCH_LIMIT_MS,
  openArchiveBatch,
  readPausedPages,
} from './archive-batch-store.ts';
import { PAGES_PER_CALL_MAX } from './archive-cursor.ts';
import type { ArchiveRunner, Leading } from './archive-runner.ts';
import { brandObservations } from './archive-scan.ts';
import { areLooksOff, dueLooks, finishLook, readNewestAds, turnLooksOff } from './look-store.ts';
import type { PacedAccount } from './paced-account.ts';
import { readLook } from './read-look.ts';

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
