import { requireReadable } from '#contracts/events/schema-registry.ts';
import { utcDate } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import { enqueue, type NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import { createDeliveryTables } from '#application/delivery-outbox/schema/create-tables.ts';
import { createTraceTables, storeTraces } from '#application/delivery-outbox/trace-context.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { inTransaction, openPool } from '#platform/postgres/pool.ts';
import { isTracing } from '#platform/telemetry/tracing.ts';
import { applyRuleChange, toFinalRuleState } from './apply-rule-change.ts';
import { createAlertsTables, openProgress, saveProgress } from './checkpoint.ts';
import { createPromiseQueue } from '#platform/concurrency/promise-queue.ts';
import { type BrandContext, loadBrandContext } from './matching/brand-context.ts';
import {
  type FollowedEvent,
  type Match,
  matchEvents,
  type Outcome,
  advanceClock,
  PREFIXES,
} from './matching/match-events.ts';
import type { AlertsSettings, MatchingSession } from './dependencies.ts';
import { createReplayGuard } from './replay-guard.ts';
import { deliveriesOf } from './create-deliveries.ts';
import type { SignalCheck, SignalSource } from './matching/pending-signal-checks.ts';
import { notifySignals } from './signals/notify-signals.ts';

const BATCH_EVENTS = 2_000;
const BUFFERED_ITEMS = 10_000;
const POOL_CLIENTS = 4;
/** Name of the leader lock: one process matches at a time. Each projection has a lock under its own name. */
const ROLE = 'alerting';
/** Interval of clock checks while the log is quiet: digest periods also end when no event arrives. */
const QUIET_MS = 1_000;
/** Delay after midnight before a period closes: an event recorded before midnight may arrive this much later. */
export const PERIOD_GRACE_MS = 30_000;

/** Trace contexts by event id, and by id of the deliveries that follow. `null` when tracing is off. */
type Traces = { readonly ofEvents: ReadonlyMap<string, string>; readonly ofDeliveries: Map<string, string> };

const tracesOf = (events: readonly FollowedEvent[]): Traces | null => {
  if (!isTracing()) return null;
  const traced = events.flatMap(({ id, metadata: { traceparent } }) =>
    traceparent === undefined ? [] : [[id, traceparent] as const],
  );
  return { ofEvents: new Map(traced), ofDeliveries: new Map() };
};

const createAllDeliveries = async (
  { progress, settings }: MatchingSession,
  matches: readonly Match[],
  traces: Traces | null,
): Promise<readonly NewDelivery[]> => {
  const deliveries: NewDelivery[] = [];
  const now = settings.clock.now();
  for (const match of matches) {
    const matched =
      'cadence' in match.matched ? await progress.pendingDigests.read(match.matched) : match.matched;
    const created = deliveriesOf(match, matched, now);
    deliveries.push(...created);
    const traceparent = traces?.ofEvents.get(match.cause);
    if (traces === null || traceparent === undefined) continue;
    for (const { deliveryId } of created) traces.ofDeliveries.set(deliveryId, traceparent);
  }
  return deliveries;
};

/** Commits deliveries, matching state and checkpoint in one transaction, then notifies the delivery queue. */
const commit = async (
  session: MatchingSession,
  { matches, ruleChanges }: Pick<Outcome, 'matches' | 'ruleChanges'>,
  position: bigint,
  brandContext: BrandContext | null,
  traces: Traces | null = null,
): Promise<void> => {
  const { database, progress, settings, replayGuard } = session;
  const derived = await createAllDeliveries(session, matches, traces);
  const isReplay = progress.position < progress.replayedUntil;
  const deliveries = isReplay ? await replayGuard.open(derived) : derived;
  const effectiveChanges = isReplay
    ? await Promise.all(ruleChanges.map(toFinalRuleState(replayGuard)))
    : ruleChanges;
  const queued = await inTransaction(database, async (client) => {
    const added = deliveries.length === 0 ? [] : await enqueue(client, deliveries);
    if (traces) await storeTraces(client, traces.ofDeliveries);
    for (const ruleChange of effectiveChanges)
      await applyRuleChange(client, ruleChange, settings.clock.now());
    await brandContext?.save(client);
    await saveProgress(client, progress, position);
    return added;
  });
  progress.position = position;
  progress.changedRules.clear();
  if (queued.length > 0) {
    settings.publish(queued);
    settings.log.debug({ deliveries: queued.length, position: String(position) }, 'deliveries queued');
  }
};

const processBatch = async (session: MatchingSession, items: readonly Followed[]): Promise<void> => {
  const { progress, settings, database } = session;
  let position = progress.position;
  let events: FollowedEvent[] = [];
  for (const item of items) {
    if (item.kind === 'event') {
      position = item.event.position;
      if (position > progress.position) events.push(requireReadable(item.event) as FollowedEvent);
    } else if (item.kind === 'checkpoint') position = item.position;
  }
  if (events.length === 0) {
    if (position > progress.position) await commit(session, { matches: [], ruleChanges: [] }, position, null);
    return;
  }
  const brandContext = await loadBrandContext(database, events);
  const traces = tracesOf(events);
  while (events.length > 0) {
    const outcome = matchEvents(progress, brandContext, settings.baseUrl, events);
    const last = events[outcome.taken - 1];
    events = events.slice(outcome.taken);
    const reached = events.length > 0 ? (last?.position ?? position) : position;
    await commit(session, outcome, reached, brandContext, traces);
  }
};

/** Closes digest periods that ended by the clock. The grace period covers events that are still on their way. */
const closeEndedPeriods = async (session: MatchingSession): Promise<void> => {
  const { progress, settings } = session;
  const time = new Date(settings.clock.now().getTime() - PERIOD_GRACE_MS).toISOString();
  if (utcDate(time) <= utcDate(progress.logTime)) return;
  // Advances the log clock only to the start of the day: later events carry times of their own.
  const matches = advanceClock(progress, `${utcDate(time)}T00:00:00.000Z`);
  if (matches.length > 0)
    await commit(session, { matches: [...matches], ruleChanges: [] }, progress.position, null);
};

/** Result of one wait: log items, or whether the signals read model has reached the position of a signal check. */
type WaitResult =
  | { readonly kind: 'items'; readonly items: readonly Followed[] }
  | { readonly kind: 'signal_check'; readonly check: SignalCheck; readonly isShown: boolean };

/** Follows the log until an error occurs, the leader lock is lost or the process stops. */
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
  const results = createPromiseQueue<WaitResult>();
  const readNext = async (): Promise<WaitResult> => ({
    kind: 'items',
    items: await follower.take(BATCH_EVENTS),
  });
  const checkSignals = async (source: SignalSource, check: SignalCheck): Promise<WaitResult> => {
    const isShown = await source.shown(check.position);
    if (!isShown) await pause(QUIET_MS, leading);
    return { kind: 'signal_check', check, isShown };
  };
  let isLive = false;
  let isChecking = false;
  try {
    results.watch(readNext());
    // On shutdown `pause` returns at once, so without this check the loop would retry the signal check forever.
    while (!leading.aborted) {
      const check = isLive && !isChecking ? progress.signalChecks.oldest() : null;
      if (signals && check) {
        isChecking = true;
        results.watch(checkSignals(signals, check));
      }
      const result = await results.next(QUIET_MS);
      if (result === null) {
        if (isLive) await closeEndedPeriods(session);
      } else if (result.kind === 'signal_check') {
        isChecking = false;
        if (signals && result.isShown) await notifySignals(session, signals, result.check);
      } else {
        if (result.items.length === 0) return;
        results.watch(readNext());
        await processBatch(session, result.items);
        if (isLive || !result.items.some(({ kind }) => kind === 'caught_up')) continue;
        isLive = true;
        log.info({ position: String(progress.position) }, 'caught up');
        await closeEndedPeriods(session);
      }
    }
  } finally {
    leading.removeEventListener('abort', stop);
  }
};

/**
 * Matches events to alert rules while this process is the leader. After any error it restarts from the checkpoint.
 * That is safe: deliveries, matching state and checkpoint commit together, and a repeated match has the same id.
 */
export const runAlerts = async (settings: AlertsSettings): Promise<void> => {
  const { log, signal } = settings;
  const database = openPool(settings.databaseUrl, POOL_CLIENTS);
  const eventStore = openEventStore(settings.eventStoreUrl);
  try {
    await runAsLeader({
      databaseUrl: settings.databaseUrl,
      name: ROLE,
      log,
      signal,
      run: async (leading) => {
        await createDeliveryTables(database);
        await createTraceTables(database);
        await createAlertsTables(database);
        const progress = await openProgress(database, eventStore);
        log.info({ position: String(progress.position) }, 'matching started');
        await follow(
          { database, eventStore, progress, settings, replayGuard: createReplayGuard(eventStore) },
          leading,
        );
      },
    });
  } finally {
    await eventStore[Symbol.asyncDispose]();
    await database.end();
  }
};
