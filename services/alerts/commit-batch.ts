import { deliveryIdOf } from '#domain/workspace/alert/match-events.ts';
import { alertPayload, type DeliveryContent } from '#domain/workspace/alert/payload.ts';
import { sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import {
  type NewDelivery,
  enqueueOrHoldBack,
  type QueuedDelivery,
} from '#application/delivery-outbox/enqueue.ts';
import { targetOfRule } from '#application/delivery-outbox/target.ts';
import { countMessage, dueTime, reachesThreshold } from '#application/alerts/limits.ts';
import type { Match } from '#application/alerts/match-events.ts';
import type { FollowedEvent, Outcome } from './matching/match-events.ts';
import { utcDate } from '#contracts/values/time.ts';
import { chunk } from 'es-toolkit/array/chunk';
import { storeTraces } from '#application/delivery-outbox/trace-context.ts';
import { inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { isTracing } from '#platform/telemetry/tracing.ts';
import { applyRuleChange, prepareRuleChange, toFinalRuleState } from './apply-rule-change.ts';
import { saveProgress } from './checkpoint.ts';
import type { MatchingSession } from './dependencies.ts';

/** One delivery for each channel on which the rule was sending at that log position. */
export const createDeliveries = (
  { rule, kind, cause, period, at }: Match,
  matched: DeliveryContent,
  now: Date,
): readonly NewDelivery[] =>
  sendingChannelsOf(rule).flatMap((channel) => {
    const target = targetOfRule(rule, channel);
    if (!target) return [];
    const deliveryId = deliveryIdOf(rule.alert_id, channel, cause);
    return {
      deliveryId,
      workspaceId: rule.workspace_id,
      alertId: rule.alert_id,
      kind,
      target,
      payload: alertPayload({ delivery_id: deliveryId, kind, rule, matched, period, at }),
      queuedAt: now.toISOString(),
      dueAt: dueTime(rule, at),
    };
  });

/** `null` when tracing is off. */
type Traces = { readonly ofEvents: ReadonlyMap<string, string>; readonly ofDeliveries: Map<string, string> };

export const tracesOf = (events: readonly FollowedEvent[]): Traces | null => {
  if (!isTracing()) return null;
  const traced = events.flatMap(({ id, metadata: { traceparent } }) =>
    traceparent === undefined ? [] : [[id, traceparent] as const],
  );
  return { ofEvents: new Map(traced), ofDeliveries: new Map() };
};

/** Bounds the payloads in memory. A match has a delivery for each channel of its rule. */
const MATCHES_PER_TRANSACTION = 50;

const createAllDeliveries = async (
  { progress, settings }: MatchingSession,
  matches: readonly Match[],
  traces: Traces | null,
): Promise<readonly NewDelivery[]> => {
  const deliveries: NewDelivery[] = [];
  const now = settings.clock.now();
  await progress.dayCounts.load(matches.map(({ rule }) => rule));
  for (const match of matches) {
    const matched =
      'cadence' in match.matched ? await progress.pendingDigests.read(match.matched) : match.matched;
    if (!reachesThreshold(match.rule, match.kind, matched)) continue;
    const day = countMessage(match.rule, match.at, progress.dayCounts);
    if (day !== null) {
      // The digest of an event that waited for a release may be sent already.
      const today = utcDate(progress.logTime);
      progress.pendingDigests.addContent(match.rule.alert_id, day < today ? today : day, matched);
      continue;
    }
    const created = createDeliveries(match, matched, now);
    deliveries.push(...created);
    const traceparent = traces?.ofEvents.get(match.cause);
    if (traces === null || traceparent === undefined) continue;
    for (const { deliveryId } of created) traces.ofDeliveries.set(deliveryId, traceparent);
  }
  return deliveries;
};

/** Runs in the transaction of `write`; returns the new deliveries that are due. */
const queueMatches = async (
  session: MatchingSession,
  matches: readonly Match[],
  { traces, isLate }: Required<CommitOptions>,
  write: (client: Transaction) => Promise<void> = async () => undefined,
): Promise<readonly QueuedDelivery[]> => {
  const { database, progress, replayGuard } = session;
  const derived = await createAllDeliveries(session, matches, traces);
  const isReplay = progress.position < progress.replayedUntil;
  const deliveries = isReplay || isLate ? await replayGuard.open(derived) : derived;
  return inTransaction(database, async (client) => {
    // At once, in the order of the calls: statements that do not wait for each other share a round trip.
    const [added] = await Promise.all([
      enqueueOrHoldBack(client, deliveries),
      traces && storeTraces(client, traces.ofDeliveries),
      write(client),
    ]);
    traces?.ofDeliveries.clear();
    return added;
  });
};

type CommitOptions = {
  readonly traces?: Traces | null;
  /** True for events that waited for a release: their rules may have changed, or have sent them in a replay. */
  readonly isLate?: boolean;
};

/**
 * Commits all in one transaction. Many matches come in transactions before it, each with some deliveries: a crash
 * between them repeats the batch with the same ids.
 */
export const commit = async (
  session: MatchingSession,
  { matches, ruleChanges }: Pick<Outcome, 'matches' | 'ruleChanges'>,
  position: bigint,
  { traces = null, isLate = false }: CommitOptions = {},
): Promise<void> => {
  const { progress, settings, replayGuard } = session;
  const effectiveChanges =
    progress.position < progress.replayedUntil
      ? await Promise.all(ruleChanges.map(toFinalRuleState(replayGuard)))
      : ruleChanges;
  const queued: QueuedDelivery[] = [];
  const groups = chunk(matches, MATCHES_PER_TRANSACTION);
  const last = groups.pop() ?? [];
  for (const some of groups) queued.push(...(await queueMatches(session, some, { traces, isLate })));
  const now = settings.clock.now();
  for (const ruleChange of effectiveChanges) await prepareRuleChange(session.database, ruleChange, now);
  const lastQueued = await queueMatches(session, last, { traces, isLate }, async (client) => {
    for (const ruleChange of effectiveChanges) await applyRuleChange(client, ruleChange, now);
    await saveProgress(client, progress, position);
  });
  queued.push(...lastQueued);
  progress.position = position;
  for (const { stream, type, unreadable } of progress.waitingStreams.takeNew())
    settings.log.error({ stream, type, version: unreadable }, 'stream waits for a release');
  if (queued.length > 0) {
    settings.publish(queued);
    settings.log.debug({ deliveries: queued.length, position: String(position) }, 'deliveries queued');
  }
};
