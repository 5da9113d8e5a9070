import { CONCURRENT_TARGETS } from '#application/collecting/plan-sources.ts';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { WakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { PoliteClient } from '#platform/http-client/polite-client.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { extendRowLease, RowLeaseLost } from '#platform/postgres/lease/row-lease.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { collectorAttempts } from '#platform/telemetry/metrics.ts';
import {
  type Claimed,
  claimTarget,
  extendLease,
  finishBatch,
  nextDue,
  openBatch,
  putBack,
  releaseLease,
  retryDelayMs,
} from './target-store.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import type { ReadOutcome, SourceReader } from './source-reader.ts';

export const BATCH_LIMIT_MS = 6 * HOUR_MS;
const POLL_INTERVAL_MS = 5_000;
/** Every fifth claim takes weekly targets first, so that daily targets never take all. */
const CLAIMS_PER_WEEKLY = 5;

export type TargetRunner = {
  readonly database: Database;
  readonly nats: Pick<Nats, 'jetstream'>;
  readonly client: PoliteClient;
  readonly clock: Clock;
  readonly leaseClock?: Clock | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly readers: Readonly<Record<string, SourceReader>>;
  readonly owner: string;
};

const leaseNowOf = ({ leaseClock }: Pick<TargetRunner, 'leaseClock'>): Date | null =>
  leaseClock?.now() ?? null;

const readTarget = async (
  runner: TargetRunner,
  claimed: Claimed,
  signal: AbortSignal,
): Promise<ReadOutcome> => {
  const { database, nats, client, clock, readers } = runner;
  const { source, domain, cadence, wishedAt } = claimed;
  const reader = readers[source];
  if (reader === undefined) throw new Error(`The source ${source} has no reader.`);
  const { intervalMs } = reader;
  const batch = await openBatch<object>(database, claimed, { clock, leaseNow: () => leaseNowOf(runner) });
  const reading = { domain, batch, client, now: () => clock.now(), signal };
  const endsMs = batch.startedAt.getTime() + BATCH_LIMIT_MS;
  const isLate = clock.now().getTime() >= endsMs;
  const outcome = await (isLate ? reader.giveUp(reading) : reader.read(reading));
  const now = clock.now();
  if (outcome.kind === 'wait') {
    const untilMs = outcome.untilMs ?? now.getTime() + retryDelayMs(batch.failures + 1);
    const attempt = { at: now, outcome: outcome.outcome, detail: outcome.detail };
    const isRead = (await batch.pages()).length > 0;
    if (isRead || untilMs < endsMs) {
      await putBack(database, claimed, new Date(Math.min(untilMs, endsMs)), attempt);
    } else {
      // A source with a long interval is retried the next day.
      const due = nextDue({
        domain,
        cadence,
        wishedAt,
        readAt: now,
        intervalMs: intervalMs === null ? null : DAY_MS,
      });
      const dueAt = new Date(Math.max(due.getTime(), untilMs));
      await finishBatch(database, claimed, { batchId: batch.batchId, readAt: null, dueAt, attempt });
    }
    return outcome;
  }
  if (outcome.kind === 'read') await publishObservations(nats, outcome.observations);
  const due = nextDue({ domain, cadence, wishedAt, readAt: batch.startedAt, intervalMs });
  const notBeforeMs = outcome.kind === 'nothing' ? (outcome.notBeforeMs ?? 0) : 0;
  await finishBatch(database, claimed, {
    batchId: batch.batchId,
    readAt: outcome.kind === 'read' ? batch.startedAt : null,
    dueAt: new Date(Math.max(due.getTime(), notBeforeMs)),
    attempt: { at: now, outcome: outcome.outcome, detail: outcome.detail },
  });
  return outcome;
};

const readWithLease = async (runner: TargetRunner, claimed: Claimed): Promise<void> => {
  const { database, log, signal } = runner;
  const { source, domain } = claimed;
  const lost = new AbortController();
  try {
    using _ = extendRowLease(() => extendLease(database, claimed, leaseNowOf(runner)), lost);
    const outcome = await readTarget(runner, claimed, AbortSignal.any([signal, lost.signal]));
    const { kind, detail } = outcome;
    collectorAttempts.inc({ source, outcome: outcome.outcome });
    const text = { outcome: outcome.outcome, detail };
    log.info({ source, domain, ...text }, kind === 'wait' ? 'target put back' : 'target read');
  } catch (error) {
    if (signal.aborted) {
      // Otherwise the lease expires within a minute.
      await releaseLease(database, claimed).catch((fault: unknown) =>
        log.debug({ source, domain, reason: (fault as Error).message }, 'lease not released'),
      );
      return;
    }
    if (error instanceof RowLeaseLost || lost.signal.aborted) log.warn({ source, domain }, 'lease lost');
    // The lease expires, and a reader continues from the last commit.
    else log.warn({ err: error, source, domain }, 'reading failed; retrying when the lease has expired');
  }
};

export const readTargetNow = async (
  runner: TargetRunner,
  source: string,
  domain: string,
): Promise<boolean> => {
  const { database, clock, owner } = runner;
  const claimed = await claimTarget(database, {
    sources: [source],
    owner,
    now: clock.now(),
    leaseNow: leaseNowOf(runner),
    weeklyFirst: false,
    domain,
  });
  if (claimed === null) return false;
  await readWithLease(runner, claimed);
  return true;
};

export const runTargets = async (runner: TargetRunner, wishes: Pick<WakeSignal, 'next'>): Promise<void> => {
  const { database, clock, log, signal, readers, owner } = runner;
  const sources = Object.keys(readers);
  let claims = 0;
  const readNext = async (): Promise<boolean> => {
    claims += 1;
    const weeklyFirst = claims % CLAIMS_PER_WEEKLY === 0;
    // A new owner per claim: after a lost lease, this process may claim the target again.
    const claimed = await claimTarget(database, {
      sources,
      owner: `${owner}.${claims}`,
      now: clock.now(),
      leaseNow: leaseNowOf(runner),
      weeklyFirst,
    });
    if (claimed === null) return false;
    await readWithLease(runner, claimed);
    return true;
  };
  const readLoop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        if (await readNext()) continue;
      } catch (error) {
        if (!signal.aborted) log.warn({ reason: (error as Error).message }, 'claiming failed; retrying');
      }
      const ended = new AbortController();
      const either = AbortSignal.any([signal, ended.signal]);
      await Promise.race([pause(POLL_INTERVAL_MS, either), wishes.next({ signal: either })]);
      ended.abort();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_TARGETS }, readLoop));
};
