import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { accountWarning } from '#application/collecting/library-account.ts';
import { BATCH_CANDIDATES_MAX } from '#application/collecting/plan-archive.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import { mayCall } from '#domain/collecting/archive-account.ts';
import { requireCountriesKept } from '#domain/collecting/archive-coverage.ts';
import { fillBatch } from '#domain/collecting/pack-batches.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { WakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { Route } from '#platform/http-client/request-once.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { collectorAttempts } from '#platform/telemetry/metrics.ts';
import { readLinkedPageIds } from '#projections/social-pages/read.ts';
import { nextDue, retryDelayMs } from '../schedule/due.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import { readAccount, readToken, saveAccountState, saveCountries } from './account-store.ts';
import {
  ARCHIVE_SOURCE,
  type ArchiveBatch,
  BATCH_MAX_MS,
  type BrandEnd,
  dueDomains,
  endBrands,
  finishArchiveBatch,
  openArchiveBatch,
  putBackBatch,
  readCadences,
  readPageAds,
  takeBatch,
} from './archive-batch-store.ts';
import { createArchiveClient } from './archive-client.ts';
import { type ArchiveScan, brandObservations } from './archive-scan.ts';
import { createPacedAccount, type PacedAccount } from './paced-account.ts';
import { readArchive } from './read-archive.ts';

/** Milliseconds until an idle reader looks for due targets again. A new wish wakes it at once. */
const POLL_INTERVAL_MS = 5_000;
/** Number of batches among which one takes weekly targets first. Daily targets therefore never take all. */
const BATCHES_PER_WEEKLY = 5;
/** Milliseconds between two warnings about the account in the log. */
const WARNING_INTERVAL_MS = HOUR_MS;

export type ArchiveRunner = {
  readonly database: Database;
  /** Read models, to find the pages of a brand. */
  readonly db: ReadDatabase;
  readonly nats: Pick<Nats, 'jetstream'>;
  readonly vault: SecretVault;
  readonly route: Route;
  readonly origin: string;
  readonly version: string;
  readonly appSecret: string | null;
  readonly countries: readonly string[];
  readonly callsPerHour: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Waits this many milliseconds. Ends at once when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Memory of this leader. */
type Leading = {
  readonly owner: string;
  account: { readonly fingerprint: string; readonly paced: PacedAccount } | null;
  warnedMs: number;
  opened: number;
};

const warn = ({ log, clock }: ArchiveRunner, leading: Leading, warning: string): void => {
  const nowMs = clock.now().getTime();
  if (nowMs - leading.warnedMs < WARNING_INTERVAL_MS) return;
  leading.warnedMs = nowMs;
  log.warn({ source: ARCHIVE_SOURCE, warning }, 'library account needs an operator');
};

/** Returns the account with its pace; `null` without a token. Throws `Refusal` when countries were left out. */
const openAccount = async (runner: ArchiveRunner, leading: Leading): Promise<PacedAccount | null> => {
  const { database, vault, clock, countries, callsPerHour, wait } = runner;
  const now = clock.now();
  const stored = await readAccount(database, now);
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
  await saveCountries(database, countries);
  const token = await readToken(vault, stored);
  if (token === null) return null;
  const paced = createPacedAccount({
    client: createArchiveClient({ ...runner.route, ...runner, token }),
    clock,
    callsPerHour,
    stored: stored.state,
    save: (state) => saveAccountState(database, stored, state, clock.now()),
    wait,
  });
  leading.account = { fingerprint: stored.fingerprint, paced };
  return paced;
};

/** Opens a batch of the most urgent brands; `null` when none is due. Brands without pages end here. */
const openBatch = async (runner: ArchiveRunner, leading: Leading): Promise<ArchiveBatch | null> => {
  const { database, db, clock, countries } = runner;
  const weeklyFirst = leading.opened % BATCHES_PER_WEEKLY === BATCHES_PER_WEEKLY - 1;
  const now = clock.now();
  const domains = await dueDomains(database, now, { weeklyFirst, limit: BATCH_CANDIDATES_MAX });
  if (domains.length === 0) return null;
  const linked = await readLinkedPageIds(db, domains);
  const adsBefore = await readPageAds(database, [...linked.values()].flat());
  const without = domains.filter((domain) => !linked.has(domain));
  const detail = 'no social page is linked to the brand';
  await endRead(runner, without, now, () => ({ outcome: 'no_pages', detail, published: false }));
  const brands = fillBatch(
    domains.map((domain) => ({
      domain,
      pages: (linked.get(domain) ?? []).map((pageId) => ({ pageId, ads: adsBefore.get(pageId) ?? 0 })),
    })),
  ).map(({ domain, pages }) => ({ domain, pageIds: pages.map(({ pageId }) => pageId) }));
  if (brands.length === 0) return null;
  leading.opened += 1;
  return openArchiveBatch(database, leading.owner, now, { brands, countries, adsBefore });
};

type Ended = Pick<BrandEnd, 'outcome' | 'detail' | 'published'>;

/** Returns the ends of brands with the times at which they are due again. */
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

/** Publishes the scan of each brand, and then ends the batch. Published again, the observations are the same. */
const publishBatch = async (runner: ArchiveRunner, batch: ArchiveBatch, scan: ArchiveScan): Promise<void> => {
  const { database, nats, clock, log } = runner;
  const { brands, startedAt, countries } = batch;
  const isNothing = !scan.complete && (await batch.pages()).length === 0;
  const pageAds = new Map<string, number>();
  const ended = new Map<string, Ended>();
  for (const brand of brands) {
    const observations = isNothing ? [] : brandObservations(scan, brand, { startedAt, countries });
    await publishObservations(nats, observations);
    const end = observations.at(-1);
    const published = end?.type === 'ad_library.scan_end';
    const isComplete = published && end.coverage.complete;
    for (const { page_id } of isComplete ? end.coverage.pages : []) {
      pageAds.set(page_id, scan.ads.filter((ad) => ad.page_id === page_id && ad.is_active === true).length);
    }
    const outcome = isComplete ? 'complete' : published ? 'partial' : isNothing ? 'gave_up' : 'refused';
    ended.set(brand.domain, { outcome, detail: scan.detail, published });
  }
  const now = clock.now();
  const domains = brands.map(({ domain }) => domain);
  const ends = await endsOf(
    runner,
    domains,
    isNothing ? now : startedAt,
    (domain) => ended.get(domain) as Ended,
  );
  await finishArchiveBatch(database, batch, ends, pageAds, now);
  for (const { outcome } of ends) collectorAttempts.inc({ source: ARCHIVE_SOURCE, outcome });
  log.info({ source: ARCHIVE_SOURCE, brands: brands.length, detail: scan.detail }, 'batch read');
};

/** Reads a batch until it ends or waits. */
const readBatch = async (
  runner: ArchiveRunner,
  batch: ArchiveBatch,
  account: Pick<PacedAccount, 'call'>,
): Promise<void> => {
  const { database, clock, log, signal, wait } = runner;
  const endsMs = batch.startedAt.getTime() + BATCH_MAX_MS;
  const outcome = await readArchive({
    batch,
    pageIds: [...new Set(batch.brands.flatMap(({ pageIds }) => pageIds))],
    countries: batch.countries,
    adsBefore: batch.adsBefore,
    lastCompleteAt: batch.lastCompleteAt,
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

/** Reads the next batch. Returns false when there is nothing to do now. */
const readNext = async (runner: ArchiveRunner, leading: Leading): Promise<boolean> => {
  const { database, clock } = runner;
  const account = await openAccount(runner, leading);
  if (account === null) return false;
  const now = clock.now();
  const isClosed = !mayCall(account.state().access, now.getTime());
  const batch =
    (await takeBatch(database, leading.owner, now, isClosed)) ??
    (isClosed ? null : await openBatch(runner, leading));
  if (batch === null) return false;
  await readBatch(runner, batch, account);
  return true;
};

/**
 * Reads due brands at the library API until the signal is aborted, one batch after the other. One process at a time may do so,
 * because the pace of the account is in its memory.
 */
export const runArchive = async (runner: ArchiveRunner, wishes: Pick<WakeSignal, 'next'>): Promise<void> => {
  const { log, signal } = runner;
  const leading: Leading = { owner: randomUUID(), account: null, warnedMs: 0, opened: 0 };
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
