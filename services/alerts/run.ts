import { QUEUE_PLANS } from '#application/delivery-outbox/claim.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { mergeHeldBack } from '#application/delivery-outbox/merge-held-back.ts';
import { createTraceTables } from '#application/delivery-outbox/trace-context.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { FENCED_CONNECTION, proveLease } from '#platform/postgres/lease/leases.ts';
import { openPool, withProof } from '#platform/postgres/pool.ts';
import { createAlertsTables, openProgress } from './checkpoint.ts';
import { createPromiseQueue } from '#platform/concurrency/queues.ts';
import { closeDuePage, msUntilDuePage } from './digests/due-digests.ts';
import { createDigestPace } from './digests/digest-pace.ts';
import { dayToBegin, waitForPeriodEnd } from './digests/period-end.ts';
import { advanceClock } from '#application/alerts/match-events.ts';
import { PREFIXES } from './matching/match-events.ts';
import { processBatch } from './process-batch.ts';
import type { AlertsSettings, MatchingSession } from './dependencies.ts';
import { createReplayGuard } from './replay-guard.ts';
import { type FoundSignals, openSignalChecks, type SignalChecks } from './signals/signal-checks.ts';
import { continueWaitingStreams } from './waiting/continue-streams.ts';

const BATCH_EVENTS = 2_000;
const BUFFERED_ITEMS = 10_000;
const POOL_CLIENTS = 4;
const ROLE = 'alerts';
/** Digest periods end, and held-back alerts go out, also while the log is quiet. */
const QUIET_MS = 1_000;

/** Messages of one call; new events do not wait for more. */
const MESSAGES_MAX = 20;

/** Sends one message per rule of which few deliveries wait now. */
const sendHeldBack = async ({ database, settings }: MatchingSession): Promise<void> => {
  for (let messages = 0; messages < MESSAGES_MAX; messages += 1) {
    const now = settings.clock.now();
    const { queued, isMore } = await mergeHeldBack(database, { baseUrl: settings.baseUrl, now });
    if (queued.length > 0) settings.publish(queued);
    if (!isMore) return;
  }
};

/** A UTC `day` ends digest periods. `found` and `day` are null when the session ends. */
type WaitResult =
  | { readonly kind: 'items'; readonly items: readonly Followed[] }
  | { readonly kind: 'signals'; readonly found: FoundSignals | null }
  | { readonly kind: 'period_end'; readonly day: string | null };

/** Ends when an error occurs, the lease is lost or the process stops. */
const follow = async (session: MatchingSession, leading: AbortSignal): Promise<void> => {
  const { eventStore, progress, settings } = session;
  const { log, signals } = settings;
  await using follower = eventStore.follow({
    after: progress.position === 0n ? null : progress.position,
    prefixes: PREFIXES,
    bufferItems: BUFFERED_ITEMS,
  });
  const stop = (): void => void follower[Symbol.asyncDispose]();
  leading.addEventListener('abort', stop, { once: true });
  const failed = new AbortController();
  const ending = AbortSignal.any([leading, failed.signal]);
  const results = createPromiseQueue<WaitResult>();
  const readNext = async (): Promise<WaitResult> => ({
    kind: 'items',
    items: await follower.take(BATCH_EVENTS),
  });
  const signalChecks = signals && openSignalChecks(session, signals);
  const findSignals = async (checks: SignalChecks): Promise<WaitResult> => ({
    kind: 'signals',
    found: await checks.next(ending),
  });
  const findPeriodEnd = async (day: string): Promise<WaitResult> => ({
    kind: 'period_end',
    day: (await waitForPeriodEnd(session, day, ending)) ? day : null,
  });
  let isLive = false;
  let isChecking = false;
  let isDayEnding = false;
  let heldBackAtMs = Number.NEGATIVE_INFINITY;
  try {
    results.watch(readNext());
    while (!leading.aborted) {
      if (signalChecks && isLive && !isChecking) {
        isChecking = true;
        results.watch(findSignals(signalChecks));
      }
      const day = isLive && !isDayEnding ? dayToBegin(session) : null;
      if (day !== null) {
        isDayEnding = true;
        results.watch(findPeriodEnd(day));
      }
      // One page of digests between two batches: a midnight with many digests delays no alert.
      const result = await results.next(isLive ? msUntilDuePage(session, QUIET_MS) : QUIET_MS);
      if (result?.kind === 'signals') {
        isChecking = false;
        if (result.found) await signalChecks?.notify(result.found);
      } else if (result?.kind === 'period_end') {
        isDayEnding = false;
        // Only to the start of the day: later events carry times of their own.
        if (result.day !== null) advanceClock(progress, `${result.day}T00:00:00.000Z`);
      } else if (result) {
        if (result.items.length === 0) return;
        results.watch(readNext());
        await processBatch(session, result.items, { isLive, leading });
        if (session.progress.signalChecks.takeSaved()) signalChecks?.wake();
        if (!isLive && result.items.some(({ kind }) => kind === 'caught_up')) {
          isLive = true;
          log.info({ position: String(progress.position) }, 'caught up');
        }
      }
      if (!isLive) continue;
      await closeDuePage(session);
      if (performance.now() < heldBackAtMs + QUIET_MS) continue;
      await sendHeldBack(session);
      heldBackAtMs = performance.now();
    }
  } finally {
    failed.abort();
    leading.removeEventListener('abort', stop);
  }
};

/**
 * Runs while this process leads, and restarts from the checkpoint after any error: deliveries, state and checkpoint
 * commit together, and match ids repeat. Each transaction proves the lease, so a former leader writes nothing.
 */
export const runAlerts = async (settings: AlertsSettings): Promise<void> => {
  const { log, signal } = settings;
  const pool = openPool(settings.databaseUrl, POOL_CLIENTS, {
    options: `${FENCED_CONNECTION} ${QUEUE_PLANS}`,
    pipeline: true,
  });
  const eventStore = openEventStore(settings.eventStoreUrl);
  try {
    await runAsLeader({
      databaseUrl: settings.databaseUrl,
      kind: ROLE,
      log,
      signal,
      run: async (leading, lease) => {
        await createDeliveryTables(pool);
        await createTraceTables(pool);
        await createAlertsTables(pool);
        const database = withProof(pool, (client) => proveLease(client, lease));
        const progress = await openProgress(database, eventStore);
        log.info({ position: String(progress.position) }, 'matching started');
        const replayGuard = createReplayGuard(eventStore);
        const digestPace = createDigestPace(settings.clock);
        const session = { database, eventStore, progress, settings, replayGuard, digestPace };
        await continueWaitingStreams(session, leading);
        await follow(session, leading);
      },
    });
  } finally {
    await eventStore[Symbol.asyncDispose]();
    await pool.end();
  }
};
