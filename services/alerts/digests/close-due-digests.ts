import { utcDate } from '#contracts/values/time.ts';
import { digestCause, periodOf } from '#domain/workspace/alert/match-events.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { saveProgress } from '../checkpoint.ts';
import { deliveriesOf } from '../create-deliveries.ts';
import type { MatchingSession } from '../dependencies.ts';
import { contentOf } from '../matching/pending-digests.ts';
import { readStoredItems, removeEntries } from '../matching/stored-items.ts';
import { countDueDigests, readDueDigests } from './due-digests.ts';

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
    // Corrections may have withdrawn all items.
    if (!rule || !items || items.left === 0) return [];
    const period = periods[index] ?? periodOf(cadence, key);
    const matched = contentOf(items, [], as_of);
    const match = {
      rule,
      kind: 'digest',
      cause: digestCause(period),
      period,
      at: period.end,
      matched,
    } as const;
    return deliveriesOf(match, matched, settings.clock.now());
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
