import { periodOf } from '#domain/workspace/alert/match-events.ts';
import { type ActivitySignal, type BrandName, signalItem } from '#domain/workspace/alert/payload.ts';
import { type AlertRule, isActive } from '#domain/workspace/alert/rule-decider.ts';
import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import { enqueueOrHoldBack } from '#application/delivery-outbox/merging/enqueue-or-hold-back.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { saveProgress } from '../checkpoint.ts';
import { loadBrandContext } from '../matching/brand-context.ts';
import type { MatchingSession } from '../dependencies.ts';
import { deliveriesOf } from '../create-deliveries.ts';
import { markNotified, type SignalCheck, type SignalSource } from '../matching/pending-signal-checks.ts';

/**
 * Matches one signal to one rule. Instant cadence: returns a delivery, with an id derived from the signal's.
 * Otherwise: adds an item to the pending digest and returns nothing.
 */
const matchSignal = (
  { progress, settings }: MatchingSession,
  rule: AlertRule,
  signal: ActivitySignal,
  brand: BrandName,
  { at, position }: SignalCheck,
): readonly NewDelivery[] => {
  const item = signalItem(signal, brand, rule.workspace_id, settings.baseUrl);
  const { alert_id, cadence } = rule;
  if (cadence === 'instant') {
    const matched = { items: [item], items_total: 1, as_of: item.observed_at };
    const match = { rule, kind: 'alert', cause: signal.id, period: null, at, matched } as const;
    return deliveriesOf(match, matched, settings.clock.now());
  }
  const period = periodOf(cadence, at);
  const isOver = period.end <= progress.logTime;
  // A period that has ended: in a replay its digest was already made. Otherwise the read model was late, so the
  // item goes into the current period.
  if (isOver && position <= progress.replayedUntil) return [];
  const { from } = isOver ? periodOf(cadence, progress.logTime) : period;
  progress.pendingDigests.add(alert_id, cadence, from, item);
  return [];
};

/**
 * Notifies rules of the signals that a scan caused, each signal once. Call it after the read model has passed the
 * scan.
 */
export const notifySignals = async (
  session: MatchingSession,
  source: SignalSource,
  check: SignalCheck,
): Promise<void> => {
  const { database, progress, settings, replayGuard } = session;
  const signals = await source.list(check.brand_id, check.date);
  const brandContext = await loadBrandContext(database, [
    { type: 'SignalLook', data: { brand_id: check.brand_id } },
  ]);
  const brand = brandContext.nameOf(check.brand_id);
  const ids = signals.map(({ id }) => id);
  await progress.rules.load({ others: check.alert_ids });
  progress.signalChecks.done(check);
  const queued = await inTransaction(database, async (client) => {
    const deliveries: NewDelivery[] = [];
    for (const alertId of check.alert_ids) {
      const rule = progress.rules.get(alertId);
      if (!isActive(rule) || rule.trigger !== 'activity') continue;
      const fresh = await markNotified(client, alertId, ids);
      for (const signal of signals) {
        if (fresh.has(signal.id)) deliveries.push(...matchSignal(session, rule, signal, brand, check));
      }
    }
    const open = check.position <= progress.replayedUntil ? await replayGuard.open(deliveries) : deliveries;
    const added = await enqueueOrHoldBack(client, open);
    await saveProgress(client, progress, progress.position);
    return added;
  });
  progress.rules.forget();
  if (queued.length > 0) settings.publish(queued);
};
