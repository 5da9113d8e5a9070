import { utcDate } from '#contracts/values/time.ts';
import type { AlertRuleEvent } from '#contracts/events/workspace/alert-rule.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { alertRule, isActive } from '#domain/workspace/alert/rule-decider.ts';
import {
  advanceClock,
  type Match,
  type MatchedEvent,
  matchEvent,
  type MatchingState,
} from '#application/alerts/match-events.ts';
import { type RuleChange, detectRuleChange } from '../apply-rule-change.ts';
import type { PendingDigests } from './pending-digests.ts';
import type { ActiveRules } from './active-rules.ts';
import type { PendingSignalChecks } from './pending-signal-checks.ts';
import type { WaitingStreams } from '../waiting/waiting-streams.ts';

/** Stream prefixes of the subscription. */
export const PREFIXES = [
  'adLibrary-',
  'alertRule-',
  'brand-',
  'socialPage-',
  'storefront-',
  'tracking-',
] as const;
export type FollowedEvent = MatchedEvent | RecordedEvent<AlertRuleEvent>;

export type Outcome = { readonly matches: Match[]; readonly ruleChanges: RuleChange[]; taken: number };

/** The batch is committed then, so that one in which many scans end needs little memory. */
const MATCHES_MAX = 1_000;

/** `load-state.ts` loads what the events refer to before. */
export type FollowedState = MatchingState & {
  readonly rules: ActiveRules;
  readonly pendingDigests: PendingDigests;
  readonly signalChecks: PendingSignalChecks;
  readonly waitingStreams: Pick<WaitingStreams, 'setAside'>;
};

/** Applies a rule's events as one change, from the state before the first to that after the last. */
export const followRule = (
  state: FollowedState,
  events: readonly RecordedEvent<AlertRuleEvent>[],
  outcome: Outcome,
): void => {
  const alert_id = events[0]?.data.alert_id;
  if (alert_id === undefined) return;
  const before = state.rules.get(alert_id);
  const after = events.reduce(alertRule.evolve, before);
  state.rules.set(alert_id, after);
  // A disabled rule drops its pending items. After it is enabled again it fires only on later events.
  if (!isActive(after)) state.pendingDigests.drop(alert_id);
  const ruleChange = detectRuleChange(before, after);
  if (ruleChange) outcome.ruleChanges.push(ruleChange);
};

/** True before an event of a later day, and when memory is full. */
const isBatchFull = (state: FollowedState, { taken, matches, ruleChanges }: Outcome, next: string): boolean =>
  taken > 0 &&
  (ruleChanges.length > 0 ||
    matches.length >= MATCHES_MAX ||
    state.pendingDigests.isFull() ||
    state.signalChecks.isFull() ||
    (next > state.logTime && utcDate(next) !== utcDate(state.logTime)));

/**
 * Matches each event against the rules at its own log position. Stops after a change of pending deliveries, before a
 * later day and when memory is full. Sets events of waiting streams aside.
 */
export const matchEvents = (
  state: FollowedState,
  baseUrl: string,
  events: readonly FollowedEvent[],
): Outcome => {
  const outcome: Outcome = { matches: [], ruleChanges: [], taken: 0 };
  for (const event of events) {
    const time = event.recordedAt.toISOString();
    if (isBatchFull(state, outcome, time)) return outcome;
    outcome.taken += 1;
    advanceClock(state, time);
    if (state.waitingStreams.setAside(event)) continue;
    if (event.stream.startsWith('alertRule-')) {
      followRule(state, [event as RecordedEvent<AlertRuleEvent>], outcome);
    } else matchEvent(state, baseUrl, event as MatchedEvent, outcome.matches);
  }
  return outcome;
};
