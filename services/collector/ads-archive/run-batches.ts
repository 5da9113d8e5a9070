import { randomUUID } from 'node:crypto';
import { adsBeforeKnown, fillBatch, isNewestFirst } from '#domain/collecting/pack-batches.ts';
import { halvedPage, mayCall } from '#domain/collecting/pace.ts';
import { IDLE_AFTER_MS } from '#application/collecting/target-states.ts';
import { DAY_MS, HOUR_MS, WEEK_MS } from '#contracts/values/time.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { BATCH_CANDIDATES_MAX, appsOf, planArchive } from '#application/collecting/plan-sources.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import { collectorAttempts, collectorCalls } from '#platform/telemetry/metrics.ts';
import { readLinkedPageIds } from '#projections/social-pages/read.ts';
import { accountWarning } from '#application/collecting/library-account.ts';
import { requireCountriesKept } from '#domain/collecting/archive-coverage.ts';
import { pause } from '#platform/clock.ts';
import { type KeyedMutex, createKeyedMutex } from '#platform/concurrency/queues.ts';
import type { WakeSignal } from '#platform/concurrency/wake-signal.ts';
import {
  type ArchiveCursor,
  PAGES_PER_CALL_MAX,
  atList,
  countCalls,
  createArchiveClient,
  firstCursor,
} from './archive-client.ts';
import { type ArchiveScan, archiveScanOf, brandObservations } from './archive-scan.ts';
import { type ArchiveReading, type Reading, callWithTries, mapAnswer, readArchive } from './read-archive.ts';
import { DETAIL_MAX_LENGTH, nextDue, retryDelayMs } from '../schedule/target-store.ts';
import {
  ARCHIVE_SOURCE,
  type ArchiveBatch,
  BATCH_LIMIT_MS,
  type BrandEnd,
  type PageAds,
  dueDomains,
  endBrands,
  finishArchiveBatch,
  openArchiveBatch,
  putBackBatch,
  readCadences,
  readPageAds,
  readPausedPages,
  removeBatch,
  takeBatch,
} from './archive-batch-store.ts';
import type { ArchiveRunner, Leading } from './archive-runner.ts';
import { type PacedAccount, createPacedAccount } from './paced-account.ts';
import {
  FIRST_ACCOUNT,
  readAccount,
  readAccountNames,
  readAppSecret,
  readToken,
  saveAccountState,
  saveCountries,
} from './account-store.ts';

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

const POLL_INTERVAL_MS = 5_000;
/** Ids of the newest ads that are stored per page, so that a look recognises them. */
const NEWEST_MAX = 1_000;
/** Every fifth batch takes weekly targets first, so that daily targets never take all. */
const BATCHES_PER_WEEKLY = 5;
const WARNING_INTERVAL_MS = HOUR_MS;

const warn = ({ log, clock }: ArchiveRunner, leading: Leading, warning: string): void => {
  const nowMs = clock.now().getTime();
  if (nowMs - leading.warnedMs < WARNING_INTERVAL_MS) return;
  leading.warnedMs = nowMs;
  log.warn({ source: ARCHIVE_SOURCE, account: leading.name, warning }, 'library account needs an operator');
};

/** `null` without a token. Throws `Refusal` when countries were removed. */
const openAccount = async (runner: ArchiveRunner, leading: Leading): Promise<PacedAccount | null> => {
  const { database, vault, clock, countries, callsPerHour, wait } = runner;
  const now = clock.now();
  const stored = await readAccount(database, now, leading.name);
  if (stored === null) {
    warn(runner, leading, 'No token is stored. Pipe one into: collect token set');
    return null;
  }
  const warning = accountWarning(stored, now);
  if (warning !== null) warn(runner, leading, warning);
  const { account } = leading;
  const isReopened = stored.state.access.kind === 'open' && account?.paced.state().access.kind !== 'open';
  if (account?.fingerprint === stored.fingerprint && !isReopened) return account.paced;
  requireCountriesKept(stored.countries, countries);
  await saveCountries(database, stored, countries);
  const token = await readToken(vault, stored);
  if (token === null) return null;
  const appSecret = await readAppSecret(vault, stored, runner.appSecret);
  const paced = createPacedAccount({
    client: countCalls(createArchiveClient({ ...runner.route, ...runner, token, appSecret }), (answer) =>
      collectorCalls.inc({ account: stored.name, answer }),
    ),
    clock,
    callsPerHour,
    stored: stored.state,
    save: (state) => saveAccountState(database, stored, state, clock.now()),
    wait,
  });
  leading.account = { fingerprint: stored.fingerprint, paced };
  return paced;
};

/** `null` when nothing is due. Brands without pages end here. */
const openBatch = async (runner: ArchiveRunner, leading: Leading): Promise<ArchiveBatch | null> => {
  const { database, db, clock, countries } = runner;
  const weeklyFirst = leading.opened % BATCHES_PER_WEEKLY === BATCHES_PER_WEEKLY - 1;
  const now = clock.now();
  const domains = await dueDomains(database, now, { weeklyFirst, limit: BATCH_CANDIDATES_MAX });
  if (domains.length === 0) return null;
  const linked = await readLinkedPageIds(db, domains);
  const linkedIds = [...linked.values()].flat();
  const adsBefore = await readPageAds(database, linkedIds);
  const paused = await readPausedPages(database, linkedIds, now);
  const without = domains.filter((domain) => !linked.has(domain));
  const detail = 'no social page is linked to the brand';
  await endRead(runner, without, now, () => ({ outcome: 'no_pages', detail, published: false }));
  const refused = domains.filter((domain) => linked.get(domain)?.every((id) => paused.has(id)));
  await endRead(runner, refused, now, (domain) => {
    const pages = (linked.get(domain) ?? []).map((id) => `page ${id} is paused: ${paused.get(id)}`);
    return { outcome: 'refused', detail: pages.join('; '), published: false };
  });
  const brands = fillBatch(
    domains.map((domain) => ({
      domain,
      pages: (linked.get(domain) ?? [])
        .filter((pageId) => !paused.has(pageId))
        .map((pageId) => ({ pageId, ads: adsBefore.get(pageId) ?? 0 })),
    })),
  ).map(({ domain, pages }) => ({
    domain,
    pageIds: pages.map(({ pageId }) => pageId),
    pausedPageIds: (linked.get(domain) ?? []).filter((pageId) => paused.has(pageId)),
  }));
  if (brands.length === 0) return null;
  leading.opened += 1;
  return openArchiveBatch(database, { owner: leading.owner, account: leading.name }, now, {
    brands,
    countries,
    adsBefore,
  });
};

/** Every second batch is a look when a round does not fit and a look is due. */
const openNext = async (runner: ArchiveRunner, leading: Leading): Promise<ArchiveBatch | null> => {
  if (!(await needsLooks(runner, leading))) return openBatch(runner, leading);
  const steps = leading.opened % 2 === 1 ? [openLook, openBatch] : [openBatch, openLook];
  for (const open of steps) {
    const batch = await open(runner, leading);
    if (batch !== null) return batch;
  }
  return null;
};

type Ended = Pick<BrandEnd, 'outcome' | 'detail' | 'published'>;

const endsOf = async (
  { database }: ArchiveRunner,
  domains: readonly string[],
  readAt: Date,
  end: (domain: string) => Ended,
): Promise<readonly BrandEnd[]> =>
  (await readCadences(database, domains)).map((target) => ({
    domain: target.domain,
    dueAt: nextDue({ ...target, readAt }),
    ...end(target.domain),
  }));

const endRead = async (
  runner: ArchiveRunner,
  domains: readonly string[],
  now: Date,
  end: (domain: string) => Ended,
): Promise<void> => {
  const ends = await endsOf(runner, domains, now, end);
  await endBrands(runner.database, ends, now);
  for (const { outcome } of ends) collectorAttempts.inc({ source: ARCHIVE_SOURCE, outcome });
};

const publishBatch = async (runner: ArchiveRunner, batch: ArchiveBatch, scan: ArchiveScan): Promise<void> => {
  const { database, nats, clock, log } = runner;
  const { brands, startedAt, countries } = batch;
  const isNothing = !scan.complete && (await batch.pages()).length === 0;
  const pageAds = new Map<string, PageAds>();
  const ended = new Map<string, Ended>();
  for (const brand of brands) {
    const observations = isNothing ? [] : brandObservations(scan, brand, { startedAt, countries });
    await publishObservations(nats, observations);
    const end = observations.at(-1);
    const published = end?.type === 'ad_library.scan_end';
    const isComplete = published && end.coverage.complete;
    for (const { page_id } of isComplete ? end.coverage.pages : []) {
      const active = scan.ads.filter((ad) => ad.page_id === page_id && ad.is_active === true);
      const newest = active.slice(0, NEWEST_MAX).map(({ ad_id }) => ad_id);
      pageAds.set(page_id, { ads: active.length, newest });
    }
    const outcome = isComplete ? 'complete' : published ? 'partial' : isNothing ? 'gave_up' : 'refused';
    const pausedIds = brand.pausedPageIds ?? [];
    const paused = pausedIds.length === 0 ? [] : [`paused pages: ${pausedIds.join(', ')}`];
    ended.set(brand.domain, { outcome, detail: [...paused, scan.detail].join('; '), published });
  }
  const now = clock.now();
  const domains = brands.map(({ domain }) => domain);
  const ends = await endsOf(
    runner,
    domains,
    isNothing ? now : startedAt,
    (domain) => ended.get(domain) as Ended,
  );
  const { refusedPages: refused, stopsRead } = scan;
  await finishArchiveBatch(database, batch, ends, { pageAds, refused, stopsRead }, now);
  for (const { outcome } of ends) collectorAttempts.inc({ source: ARCHIVE_SOURCE, outcome });
  log.info({ source: ARCHIVE_SOURCE, brands: brands.length, detail: scan.detail }, 'batch read');
};

const readBatch = async (
  runner: ArchiveRunner,
  batch: ArchiveBatch,
  account: Pick<PacedAccount, 'call'>,
): Promise<void> => {
  const { database, clock, log, signal, wait } = runner;
  const endsMs = batch.startedAt.getTime() + BATCH_LIMIT_MS;
  const outcome = await readArchive({
    batch,
    pageIds: [...new Set(batch.brands.flatMap(({ pageIds }) => pageIds))],
    countries: batch.countries,
    adsBefore: batch.adsBefore,
    stopsSince: batch.stopsSince,
    account,
    endsMs,
    now: () => clock.now(),
    wait,
    signal,
  });
  if (outcome.kind === 'read') return publishBatch(runner, batch, outcome.scan);
  const { cause, detail } = outcome;
  const now = clock.now();
  const untilMs = outcome.untilMs ?? now.getTime() + retryDelayMs(batch.failures + 1);
  const attempt = { at: now, outcome: cause === 'off' ? 'refused' : 'wait', detail };
  await putBackBatch(database, batch, new Date(Math.min(untilMs, endsMs)), attempt);
  log.info({ source: ARCHIVE_SOURCE, brands: batch.brands.length, cause, detail }, 'batch put back');
};

const readNext = async (runner: ArchiveRunner, leading: Leading): Promise<boolean> => {
  const { database, clock } = runner;
  const account = await openAccount(runner, leading);
  if (account === null) return false;
  const now = clock.now();
  const isClosed = !mayCall(account.state().access, now.getTime());
  const batch =
    (await takeBatch(database, {
      owner: leading.owner,
      account: leading.name,
      now,
      onlyEnded: isClosed,
    })) ?? (isClosed ? null : await leading.choosing('batch', () => openNext(runner, leading)));
  if (batch === null) return false;
  await (batch.kind === 'look' ? lookAt(runner, batch, account) : readBatch(runner, batch, account));
  return true;
};

const runAccount = async (
  runner: ArchiveRunner,
  name: string,
  choosing: KeyedMutex,
  wishes: Pick<WakeSignal, 'next'>,
): Promise<void> => {
  const { log, signal } = runner;
  const leading: Leading = {
    owner: randomUUID(),
    name,
    choosing,
    account: null,
    warnedMs: 0,
    opened: 0,
    reckonedMs: 0,
    needsLooks: false,
  };
  while (!signal.aborted) {
    try {
      if (await readNext(runner, leading)) continue;
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ reason: (error as Error).message }, 'reading the library failed; retrying');
    }
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    await Promise.race([pause(POLL_INTERVAL_MS, either), wishes.next({ signal: either })]);
    ended.abort();
  }
};

/** Reads with each account at its own pace, in one process only: the pace is in its memory. New accounts join. */
export const runArchive = async (runner: ArchiveRunner, wishes: Pick<WakeSignal, 'next'>): Promise<void> => {
  const { database, log, signal } = runner;
  const choosing = createKeyedMutex();
  const running = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    try {
      const names = await readAccountNames(database);
      // Without an account, the first one reports the missing token to operators.
      for (const name of names.length === 0 ? [FIRST_ACCOUNT] : names) {
        if (!running.has(name)) running.set(name, runAccount(runner, name, choosing, wishes));
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ reason: (error as Error).message }, 'accounts not read; retrying');
    }
    await pause(POLL_INTERVAL_MS, signal);
  }
  await Promise.all(running.values());
};
