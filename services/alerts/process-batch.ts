import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
import { commit, tracesOf } from './commit-batch.ts';
import type { MatchingSession } from './dependencies.ts';
import { closeAllDue } from './digests/due-digests.ts';
import { forgetState, loadRange, loadState, mayFire, RULES_MAX, trimState } from './matching/load-state.ts';
import { advanceClock } from '#application/alerts/match-events.ts';
import { type FollowedEvent, matchEvents } from './matching/match-events.ts';
import { FIRST_ID, nextRange } from './matching/active-rules.ts';

/** `isLive` is false while the process catches up. */
type BatchOptions = { readonly isLive: boolean; readonly leading: AbortSignal };

const brandOf = ({ data }: FollowedEvent): string => (data as { readonly brand_id: string }).brand_id;

/** Ends early, at a checkpoint, when `leading` is aborted. */
export const processBatch = async (
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
