import { digestCause, periodOf } from '#domain/workspace/alert/match-events.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { saveProgress } from '../checkpoint.ts';
import { deliveriesOf } from '../create-deliveries.ts';
import type { MatchingSession } from '../dependencies.ts';
import { contentOf } from '../matching/pending-digests.ts';
import { readStoredItems } from '../matching/stored-items.ts';
import { removeEntries } from '../matching/write-pending.ts';
import { readDueDigests } from './due-digests.ts';

/**
 * Sends one page of the digests whose period has ended, in one transaction that removes them. A crash repeats at most one
 * page, with the same delivery ids. Sets `digestsDue` to false when none is left. Call it between batches: everything
 * that was matched is in the tables then.
 *
 * Only withdrawals from within the period count, and the rule as it is now decides on the channels.
 */
export const closeDuePage = async (session: MatchingSession): Promise<void> => {
  const { database, progress, settings, replayGuard } = session;
  const page = await readDueDigests(database, progress.logTime);
  if (page.length === 0) {
    progress.digestsDue = false;
    return;
  }
  const periods = page.map(({ cadence, key }) => periodOf(cadence, key));
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
  const isReplay = progress.position < progress.replayedUntil;
  const deliveries = isReplay ? await replayGuard.open(derived) : derived;
  const queued = await inTransaction(database, async (client) => {
    const added = await enqueue(client, deliveries);
    await removeEntries(client, page);
    await saveProgress(client, progress, progress.position);
    return added;
  });
  if (queued.length === 0) return;
  settings.publish(queued);
  settings.log.debug({ deliveries: queued.length, digests: page.length }, 'digests queued');
};

/** Sends all digests that are due, page by page. Ends early when `signal` is aborted. */
export const closeAllDue = async (session: MatchingSession, signal: AbortSignal): Promise<void> => {
  while (session.progress.digestsDue && !signal.aborted) await closeDuePage(session);
};
