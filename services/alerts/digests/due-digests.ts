import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import type { AlertCadence } from '#contracts/values/alerts.ts';
import { type AlertRule, sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { periodOf } from '#domain/workspace/alert/match-events.ts';
import { reachesThreshold } from '#application/alerts/limits.ts';
import { digestMatch } from '#application/alerts/match-events.ts';
import { contentOf } from '#application/alerts/pending-items.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import { saveProgress } from '../checkpoint.ts';
import { createDeliveries } from '../commit-batch.ts';
import type { MatchingSession } from '../dependencies.ts';
import { readStoredItems, removeEntries } from '../matching/stored-items.ts';

/** The items of all of them are counted to find how many fit. */
const DIGESTS_MAX = 50;
/** A digest has one delivery for each channel of its rule. */
const DELIVERIES_MAX = 200;
/**
 * Bytes of items in payloads; a larger digest is a page of its own. A page must be garbage before V8 moves it to the
 * old generation, where pages would pile up until a full collection.
 */
const PAGE_MAX_BYTES = 2 * 1024 ** 2;

/** `rule` is null when the rule no longer exists. */
type DueDigest = {
  readonly alert_id: string;
  readonly cadence: Exclude<AlertCadence, 'instant'>;
  readonly key: string;
  readonly items_total: number;
  readonly as_of: string;
  readonly rule: AlertRule | null;
  readonly bytes: string;
};

/** Ids of rules are hashes: their order prefers no workspace, so one with many rules does not hold others up. */
const DUE = `
  select c.alert_id, c.cadence, c.key, c.items_total, c.as_of, r.rule || '{"brand_ids": []}' as rule,
    (select coalesce(sum(octet_length(i.item::text)), 0) from alerting.collected_item i
      where i.alert_id = c.alert_id and i.cadence = c.cadence and i.key = c.key) as bytes
  from alerting.collected c left join alerting.rule r using (alert_id)
  where c.cadence = $1 and c.key <= $2
  order by c.cadence, c.key, c.alert_id
  limit ${DIGESTS_MAX}`;

const COUNT_DUE = `
  select (
    (select count(*) from alerting.collected where cadence = 'daily' and key <= $1) +
    (select count(*) from alerting.collected where cadence = 'weekly' and key <= $2)
  )::int as due`;

const PERIOD_DAYS = { daily: 1, weekly: 7 } as const;

const firstThatFit = (due: readonly DueDigest[]): readonly DueDigest[] => {
  let deliveries = 0;
  let bytes = 0;
  const tooMany = due.findIndex((one, index) => {
    const channels = sendingChannelsOf(one.rule).length;
    deliveries += channels;
    bytes += channels * Number(one.bytes);
    return index > 0 && (deliveries > DELIVERIES_MAX || bytes > PAGE_MAX_BYTES);
  });
  return tooMany < 0 ? due : due.slice(0, tooMany);
};

/** Returns the first day of the newest ended period. */
const newestDueKey = (cadence: DueDigest['cadence'], logTime: string): string =>
  utcDateOfMs(Date.parse(utcDate(logTime)) - PERIOD_DAYS[cadence] * DAY_MS);

const countDueDigests = async (database: Database, logTime: string): Promise<number> => {
  const { rows } = await database.query<{ due: number }>({
    name: 'count due digests',
    text: COUNT_DUE,
    values: [newestDueKey('daily', logTime), newestDueKey('weekly', logTime)],
  });
  return rows[0]?.due ?? 0;
};

/** Oldest first. */
const readDueDigests = async (database: Database, logTime: string): Promise<readonly DueDigest[]> => {
  if (logTime === '') return [];
  for (const cadence of ['daily', 'weekly'] as const) {
    const { rows } = await database.query<DueDigest>({
      name: 'due digests',
      text: DUE,
      values: [cadence, newestDueKey(cadence, logTime)],
    });
    if (rows.length > 0) return firstThatFit(rows);
  }
  return [];
};

/**
 * Sends and removes one page of digests in one transaction, so a crash repeats at most a page with the same ids. Only
 * withdrawals from within the period count; the present rule decides on the channels.
 */
const closePage = async (session: MatchingSession): Promise<void> => {
  const { database, progress, settings, replayGuard, digestPace } = session;
  const page = await readDueDigests(database, progress.logTime);
  if (page.length === 0) {
    progress.digestsDue = false;
    return;
  }
  const periods = page.map(({ cadence, key }) => periodOf(cadence, key));
  const isReplay = progress.position < progress.replayedUntil;
  // A replay has no pauses: most of its digests were sent before, and the events after them must find none of them due.
  if (!isReplay) {
    const periodEndMs = Date.parse(periods.at(-1)?.end ?? '');
    const begun = { digests: page.length, periodEndMs, day: utcDate(progress.logTime) };
    await digestPace.begin(begun, () => countDueDigests(database, progress.logTime));
  }
  const stored = await readStoredItems(
    database,
    page.map((one, index) => ({ ...one, until: periods[index]?.end ?? null })),
  );
  const derived = page.flatMap(({ rule, cadence, key, as_of }, index) => {
    const items = stored[index];
    if (!rule || !items) return [];
    const period = periods[index] ?? periodOf(cadence, key);
    const matched = contentOf(items, [], as_of);
    if (!reachesThreshold(rule, 'digest', matched)) return [];
    return createDeliveries(digestMatch(rule, period, matched), matched, settings.clock.now());
  });
  const deliveries = isReplay ? await replayGuard.open(derived) : derived;
  const queued = await inTransaction(database, async (client) => {
    const [added] = await Promise.all([
      enqueue(client, deliveries),
      removeEntries(client, page),
      saveProgress(client, progress, progress.position),
    ]);
    return added;
  });
  if (queued.length === 0) return;
  settings.publish(queued);
  settings.log.debug({ deliveries: queued.length, digests: page.length }, 'digests queued');
};

/**
 * Lets digests wait for the spread of their period (`digest-pace.ts`). Call it between batches, when everything matched
 * is in the tables.
 */
export const closeDuePage = async (session: MatchingSession): Promise<void> => {
  if (session.progress.digestsDue && session.digestPace.waitMs() === 0) await closePage(session);
};

/** Sends page by page, up to one that waits. Ends early when `signal` is aborted. */
export const closeAllDue = async (session: MatchingSession, signal: AbortSignal): Promise<void> => {
  const { progress, digestPace } = session;
  while (progress.digestsDue && digestPace.waitMs() === 0 && !signal.aborted) await closePage(session);
};

export const msUntilDuePage = ({ progress, digestPace }: MatchingSession, limitMs: number): number =>
  progress.digestsDue ? Math.min(limitMs, digestPace.waitMs()) : limitMs;
