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
import { closeDuePage, msUntilDuePage, closeAllDue } from './digests/due-digests.ts';
import { createDigestPace } from './digests/digest-pace.ts';
import { advanceClock } from '#application/alerts/match-events.ts';
import { PREFIXES, type FollowedEvent, matchEvents } from './matching/match-events.ts';
import type { AlertsSettings, MatchingSession } from './dependencies.ts';
import { createReplayGuard } from './replay-guard.ts';
import { type FoundSignals, openSignalChecks, type SignalChecks } from './signals/signal-checks.ts';
import { continueWaitingStreams } from './waiting/continue-streams.ts';
import { MINUTE_MS, utcDate } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import { commit, tracesOf } from './commit-batch.ts';
import { forgetState, loadRange, loadState, mayFire, RULES_MAX, trimState } from './matching/load-state.ts';
import { FIRST_ID, nextRange } from './matching/active-rules.ts';

/** `isLive` is false while the process catches up. */
type BatchOptions = { readonly isLive: boolean; readonly leading: AbortSignal };

const brandOf = ({ data }: FollowedEvent): string => (data as { readonly brand_id: string }).brand_id;

/** Ends early, at a checkpoint, when `leading` is aborted. */
const processBatch = async (
  session: MatchingSession,
  items: readonly Followed[],
  options: BatchOptions,
): Promise<void> => {
  const { progress, settings } = session;
  let position = progress.position;
  const events: FollowedEvent[] = [];
  for (const item of items) {
    if (item.kind === 'event') {
      position = item.event.position;
      if (position > progress.position) events.push(item.event as FollowedEvent);
    } else if (item.kind === 'checkpoint') position = item.position;
  }
  if (events.length === 0) {
    if (position > progress.position) await commit(session, { matches: [], ruleChanges: [] }, position);
    return;
  }
  let crowded: string | null = null;
  let rest: readonly FollowedEvent[] = events;
  for (let first = rest[0]; first !== undefined; first = rest[0]) {
    const isCrowded = first.unreadable === undefined && mayFire(first) && brandOf(first) === crowded;
    const count = isCrowded ? 0 : await loadState(progress, rest, settings.rulesMax ?? RULES_MAX);
    const some = rest.slice(0, Math.max(1, count));
    rest = rest.slice(some.length);
    const reached = rest.length > 0 ? (some.at(-1)?.position ?? position) : position;
    if (count > 0) await matchLoaded(session, some, reached, options);
    else {
      crowded = brandOf(first);
      if (!(await matchInRanges(session, first, reached, options))) return;
    }
  }
};

const startEvent = async (
  session: MatchingSession,
  event: FollowedEvent,
  { isLive, leading }: BatchOptions,
): Promise<void> => {
  advanceClock(session.progress, event.recordedAt.toISOString());
  // While it catches up, digests are sent before later events change their rules. Live, events do not wait for them.
  if (!isLive) await closeAllDue(session, leading);
};

/** `position` is that of the last event. */
const matchLoaded = async (
  session: MatchingSession,
  events: readonly FollowedEvent[],
  position: bigint,
  options: BatchOptions,
): Promise<void> => {
  const { progress, settings } = session;
  const traces = tracesOf(events);
  let rest = events;
  for (let first = rest[0]; first !== undefined; first = rest[0]) {
    await startEvent(session, first, options);
    const outcome = matchEvents(progress, settings.baseUrl, rest);
    const last = rest[outcome.taken - 1];
    rest = rest.slice(outcome.taken);
    const reached = rest.length > 0 ? (last?.position ?? position) : position;
    await commit(session, outcome, reached, { traces });
  }
  trimState(progress, settings.rulesMax ?? RULES_MAX);
};

/**
 * Matches one event range by range, for a brand with more rules than memory holds. Each range commits its alerts, so a
 * crash continues with the next. Checkpoint, brands and pages move with the last range, so all rules meet the same
 * state. False when `leading` is aborted.
 */
const matchInRanges = async (
  session: MatchingSession,
  event: FollowedEvent,
  position: bigint,
  options: BatchOptions,
): Promise<boolean> => {
  const { progress, settings, database } = session;
  await startEvent(session, event, options);
  const traces = tracesOf([event]);
  const { partial } = progress;
  let after = partial?.position === event.position ? partial.alertId : FIRST_ID;
  forgetState(progress);
  while (!options.leading.aborted) {
    const range = await nextRange(database, brandOf(event), after, settings.rulesMax ?? RULES_MAX);
    await loadRange(progress, event, range);
    const outcome = matchEvents(progress, settings.baseUrl, [event]);
    progress.partial = range.isLast ? null : { position: event.position, alertId: range.upTo };
    if (!range.isLast) progress.brands.forget();
    await commit(session, outcome, range.isLast ? position : progress.position, { traces });
    forgetState(progress);
    if (range.isLast) return true;
    after = range.upTo;
  }
  return false;
};

/** An event recorded before midnight may arrive this much later. */
export const PERIOD_GRACE_MS = 30_000;
/**
 * After midnight, a period closes even if the log has unmatched events. They go into the next digest, and `as_of` shows
 * where this one ends.
 */
export const PERIOD_WAIT_MS = 5 * MINUTE_MS;
/** Interval of the checks whether everything is matched. */
const LOOK_MS = 1_000;

/** UTC day that has begun by the clock but not by the log clock; `null` when it is the same day. */
const dayToBegin = ({ progress, settings }: MatchingSession): string | null => {
  const day = utcDate(new Date(settings.clock.now().getTime() - PERIOD_GRACE_MS).toISOString());
  return day > utcDate(progress.logTime) ? day : null;
};

/**
 * Waits until everything in the log is matched, or `PERIOD_WAIT_MS` have passed. Never rejects. False when the signal
 * is aborted before.
 */
export const waitForPeriodEnd = async (
  { eventStore, progress, settings }: MatchingSession,
  day: string,
  ending: AbortSignal,
): Promise<boolean> => {
  const latestMs = Date.parse(day) + PERIOD_WAIT_MS;
  while (!ending.aborted) {
    const after = progress.position === 0n ? null : progress.position;
    const isBehind = await eventStore.isBehind(after, PREFIXES).catch(() => true);
    if (!isBehind || settings.clock.now().getTime() >= latestMs) return true;
    await pause(LOOK_MS, ending);
  }
  return false;
};

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
