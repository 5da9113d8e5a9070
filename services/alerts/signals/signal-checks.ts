import { periodOf } from '#domain/workspace/alert/match-events.ts';
import { type ActivitySignal, type BrandName, signalItem } from '#domain/workspace/alert/payload.ts';
import { type AlertRule, isActive } from '#domain/workspace/alert/rule-decider.ts';
import { countMessage, type DayCounts } from '#application/alerts/limits.ts';
import { itemMatch } from '#application/alerts/match-events.ts';
import { enqueueOrHoldBack, type NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { openActiveRules } from '../matching/active-rules.ts';
import { openStoredDayCounts } from '../matching/day-counts.ts';
import { openPendingDigests, type PendingDigests } from '../matching/pending-digests.ts';
import type { MatchingSession } from '../dependencies.ts';
import { createDeliveries } from '../commit-batch.ts';
import {
  removeCheck,
  removeRules,
  type StoredSignalCheck,
  postponeCheck,
  readNextCheck,
  type SignalSource,
} from '../matching/pending-signal-checks.ts';
import { pause } from '#platform/clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';
import { LeaseLost } from '#platform/postgres/lease/leases.ts';

export type FoundSignals = { readonly check: StoredSignalCheck; readonly signals: readonly ActivitySignal[] };

type Notice = { readonly rule: AlertRule; readonly signal: ActivitySignal };

/** Bounds the notices of one transaction. Each has a delivery for each channel of its rule. */
const NOTICES_MAX = 100;
const PAIRS_MAX = 10_000;

type Notified = { readonly alert_id: string; readonly signal_id: string };

const keyOf = ({ alert_id, signal_id }: Notified): string => `${alert_id} ${signal_id}`;

/** Answers for these rules and signals only. */
const readNotified = async (
  database: Database,
  alertIds: readonly string[],
  signalIds: readonly string[],
): Promise<(alertId: string, signalId: string) => boolean> => {
  const { rows } = await database.query<Notified>({
    name: 'signals of which rules were notified',
    text: `select alert_id, signal_id from alerting.told_signal
           where alert_id = any($1::uuid[]) and signal_id = any($2::uuid[])`,
    values: [alertIds, signalIds],
  });
  const notified = new Set(rows.map(keyOf));
  return (alert_id, signal_id) => notified.has(keyOf({ alert_id, signal_id }));
};

/** Call it in the transaction that notifies. */
const markNotified = async (client: Transaction, pairs: readonly Notified[]): Promise<void> => {
  if (pairs.length === 0) return;
  await client.query({
    name: 'mark rules as notified',
    text: `insert into alerting.told_signal (alert_id, signal_id) select * from unnest($1::uuid[], $2::uuid[])
           on conflict do nothing`,
    values: [pairs.map(({ alert_id }) => alert_id), pairs.map(({ signal_id }) => signal_id)],
  });
};

/** `rulesDone` counts the rules of the check's row that are done with it. */
type NoticePage = { readonly notices: readonly Notice[]; readonly rulesDone: number };

/** Uses the rules as they are now. */
const readNotices = async (
  { database }: MatchingSession,
  { check, signals }: FoundSignals,
): Promise<NoticePage> => {
  const alertIds = check.alert_ids.slice(0, Math.max(1, Math.floor(PAIRS_MAX / signals.length)));
  const rules = openActiveRules(database);
  await rules.load({ others: alertIds });
  const signalIds = signals.map(({ id }) => id);
  const isNotified = await readNotified(database, alertIds, signalIds);
  const notices: Notice[] = [];
  for (const [rulesDone, alertId] of alertIds.entries()) {
    const rule = rules.get(alertId);
    if (!isActive(rule) || rule.trigger !== 'activity') continue;
    const fresh = signals.filter(({ id }) => !isNotified(alertId, id)).map((signal) => ({ rule, signal }));
    const room = NOTICES_MAX - notices.length;
    notices.push(...fresh.slice(0, room));
    // The next call leaves out what this one notifies of.
    if (fresh.length > room) return { notices, rulesDone };
  }
  return { notices, rulesDone: alertIds.length };
};

/** Returns deliveries with ids derived from the signal's, or adds to the pending digest. */
const matchSignal = (
  { progress, settings }: MatchingSession,
  { rule, signal }: Notice,
  brand: BrandName,
  { at, position }: StoredSignalCheck,
  pendingDigests: PendingDigests,
  dayCounts: DayCounts,
): readonly NewDelivery[] => {
  const item = signalItem(signal, brand, rule.workspace_id, settings.baseUrl);
  const { alert_id, cadence } = rule;
  const day = countMessage(rule, at, dayCounts);
  if (cadence === 'instant' && day === null) {
    const match = itemMatch(rule, signal.id, at, item);
    return createDeliveries(match, match.matched, settings.clock.now());
  }
  const digestCadence = cadence === 'instant' ? 'daily' : cadence;
  const period = periodOf(digestCadence, day ?? at);
  const isOver = period.end <= progress.logTime;
  // A replay already made the digest of an ended period. Otherwise the read model was late, so the item goes into the
  // current one.
  if (isOver && position <= progress.replayedUntil) return [];
  const { from } = isOver ? periodOf(digestCadence, progress.logTime) : period;
  pendingDigests.add(alert_id, digestCadence, from, item);
  return [];
};

/**
 * Notifies each signal once, at most `NOTICES_MAX` in one transaction that also removes the rules from the check. Call
 * it between batches, after the read model has passed the scan. A failed call can be repeated.
 */
export const notifySignals = async (session: MatchingSession, found: FoundSignals): Promise<void> => {
  const { database, progress, settings, replayGuard } = session;
  const { check, signals } = found;
  if (signals.length === 0) return inTransaction(database, (client) => removeCheck(client, check));
  const { notices, rulesDone } = await readNotices(session, found);
  await progress.brands.load([{ type: 'SignalLook', data: { brand_id: check.brand_id } }]);
  const brand = progress.brands.nameOf(check.brand_id);
  const pendingDigests = openPendingDigests(database);
  const dayCounts = openStoredDayCounts(database);
  await dayCounts.load(notices.map(({ rule }) => rule));
  const deliveries = notices.flatMap((notice) =>
    matchSignal(session, notice, brand, check, pendingDigests, dayCounts),
  );
  // Reads the event log. The server ends a transaction that waits for it for long.
  const open = check.position <= progress.replayedUntil ? await replayGuard.open(deliveries) : deliveries;
  const queued = await inTransaction(database, async (client) => {
    const pairs = notices.map(({ rule, signal }) => ({ alert_id: rule.alert_id, signal_id: signal.id }));
    const [added] = await Promise.all([
      enqueueOrHoldBack(client, open),
      markNotified(client, pairs),
      pendingDigests.save(client),
      dayCounts.save(client),
      removeRules(client, check, rulesDone),
    ]);
    return added;
  });
  if (queued.length > 0) settings.publish(queued);
};

/** Interval of the search for due checks. New ones end the wait. */
const SEARCH_MS = 5_000;
/** Pause after a wait for the read model that was too short. */
const LOOK_MS = 1_000;
/** The wait for a retry doubles with each failure, up to the longest. */
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;

const retryDelayMs = (failures: number): number =>
  Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (failures - 1));

/** A failed check stays pending for later; the next ones go on, but slowly while they fail too. */
export type SignalChecks = {
  /**
   * Reads the signals of the next check while events are matched, and writes nothing that matching reads. Never
   * rejects. `null` once the signal is aborted.
   */
  next(ending: AbortSignal): Promise<FoundSignals | null>;
  /** Throws only when Postgres is gone or the lease is lost. */
  notify(found: FoundSignals): Promise<void>;
  wake(): void;
};

export const openSignalChecks = (session: MatchingSession, source: SignalSource): SignalChecks => {
  const { database, settings } = session;
  const { log } = settings;
  const added = createWakeSignal();
  /** Failures in a row, of any check. */
  let failures = 0;

  const failed = async (error: unknown, check: StoredSignalCheck | null): Promise<void> => {
    failures += 1;
    const about = check && { position: String(check.position), brand_id: check.brand_id };
    log.warn({ err: error, ...about }, 'signal check failed; tried again later');
    if (check === null) return;
    try {
      await postponeCheck(database, check, retryDelayMs(check.failures + 1));
    } catch (postponeError) {
      log.warn({ err: postponeError }, 'signal check not postponed');
    }
  };

  return {
    next: async (ending) => {
      if (failures > 0) await pause(retryDelayMs(failures), ending);
      while (!ending.aborted) {
        let check: StoredSignalCheck | null = null;
        try {
          check = await readNextCheck(database);
          if (check === null) await added.next({ timeoutMs: SEARCH_MS, signal: ending });
          else if (await source.shown(check.position))
            return { check, signals: await source.list(check.brand_id, check.date) };
          else await pause(LOOK_MS, ending);
        } catch (error) {
          if (ending.aborted) break;
          await failed(error, check);
          await pause(retryDelayMs(failures), ending);
        }
      }
      return null;
    },
    notify: async (found) => {
      try {
        await notifySignals(session, found);
        failures = 0;
      } catch (error) {
        if (isConnectionFailure(error) || error instanceof LeaseLost) throw error;
        await failed(error, found.check);
      }
    },
    wake: () => added.notify(),
  };
};
