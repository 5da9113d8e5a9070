import { enqueue, type NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import { storeTraces } from '#application/delivery-outbox/trace-context.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { isTracing } from '#platform/telemetry/tracing.ts';
import { applyRuleChange, toFinalRuleState } from './apply-rule-change.ts';
import { saveProgress } from './checkpoint.ts';
import { deliveriesOf } from './create-deliveries.ts';
import type { MatchingSession } from './dependencies.ts';
import type { BrandContext } from './matching/brand-context.ts';
import type { FollowedEvent, Match, Outcome } from './matching/match-events.ts';

/** Trace contexts by event id, and by id of the deliveries that follow. `null` when tracing is off. */
type Traces = { readonly ofEvents: ReadonlyMap<string, string>; readonly ofDeliveries: Map<string, string> };

export const tracesOf = (events: readonly FollowedEvent[]): Traces | null => {
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
    // Corrections may have withdrawn all items.
    if (matched.items_total === 0) continue;
    const created = deliveriesOf(match, matched, now);
    deliveries.push(...created);
    const traceparent = traces?.ofEvents.get(match.cause);
    if (traces === null || traceparent === undefined) continue;
    for (const { deliveryId } of created) traces.ofDeliveries.set(deliveryId, traceparent);
  }
  return deliveries;
};

type CommitOptions = {
  readonly traces?: Traces | null;
  /** True for events that waited for a release. Their rules may have changed, or have sent them in a replay. */
  readonly isLate?: boolean;
};

/** Commits deliveries, matching state and checkpoint in one transaction, then notifies the delivery queue. */
export const commit = async (
  session: MatchingSession,
  { matches, ruleChanges }: Pick<Outcome, 'matches' | 'ruleChanges'>,
  position: bigint,
  brandContext: BrandContext | null,
  { traces = null, isLate = false }: CommitOptions = {},
): Promise<void> => {
  const { database, progress, settings, replayGuard } = session;
  const derived = await createAllDeliveries(session, matches, traces);
  const isReplay = progress.position < progress.replayedUntil;
  const deliveries = isReplay || isLate ? await replayGuard.open(derived) : derived;
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
  for (const { stream, type, unreadable } of progress.waitingStreams.takeNew())
    settings.log.error({ stream, type, version: unreadable }, 'stream waits for a release');
  if (queued.length > 0) {
    settings.publish(queued);
    settings.log.debug({ deliveries: queued.length, position: String(position) }, 'deliveries queued');
  }
};
