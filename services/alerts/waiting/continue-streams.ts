import { type AlertRuleEvent, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { AlertTrigger } from '#contracts/values/alerts.ts';
import {
  type AlertRule,
  alertRule,
  type AlertRuleState,
  isActive,
} from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { ActiveRules } from '../matching/active-rules.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { canRead } from '#contracts/events/schema-registry.ts';
import { commit, tracesOf } from '../commit-batch.ts';
import type { MatchingSession } from '../dependencies.ts';
import { forgetState, loadWhole } from '../matching/load-state.ts';
import { type FollowedEvent, followRule, matchEvents, type Outcome } from '../matching/match-events.ts';

/** Each state holds from its log position on. */
type RuleStates = readonly { readonly position: bigint; readonly rule: AlertRuleState }[];

const readStates = async (
  eventStore: EventStore,
  { workspace_id, alert_id }: AlertRule,
): Promise<RuleStates> => {
  const states: { position: bigint; rule: AlertRuleState }[] = [];
  let rule: AlertRuleState = alertRule.initial;
  for await (const event of eventStore.read<AlertRuleEvent>(alertRuleStream(workspace_id, alert_id))) {
    if (event.unreadable !== undefined) break;
    rule = alertRule.evolve(rule, event);
    states.push({ position: event.position, rule });
  }
  return states;
};

const firesOn = (rule: AlertRuleState, brandId: string, trigger: AlertTrigger): boolean =>
  isActive(rule) && rule.trigger === trigger && rule.brand_ids.includes(brandId);

/** Present rules that also fired at the log position of `at`, so that a wait for a release adds no rules. */
const readRulesThatFired = async (
  eventStore: EventStore,
  rules: ActiveRules,
  brandIds: readonly string[],
  at: () => bigint,
): Promise<ActiveRules> => {
  const candidates = new Map(
    brandIds
      .flatMap((brandId) => AlertTrigger.options.flatMap((trigger) => rules.firing(brandId, trigger)))
      .map((rule) => [rule.alert_id, rule]),
  );
  const histories = new Map<string, RuleStates>();
  for (const [alertId, rule] of candidates) histories.set(alertId, await readStates(eventStore, rule));
  const ruleThen = (alertId: string): AlertRuleState =>
    histories.get(alertId)?.findLast(({ position }) => position <= at())?.rule ?? null;
  return {
    ...rules,
    firing: (brandId, trigger) =>
      rules.firing(brandId, trigger).filter(({ alert_id }) => firesOn(ruleThen(alert_id), brandId, trigger)),
  };
};

/** Events read from the log and matched in one transaction. */
const CONTINUE_EVENTS = 1_000;

const STREAMS_PER_PAGE = 1_000;

type FirstWaiting = { readonly stream: string; readonly type: string; readonly version: string };
type WaitingEvent = { readonly revision: string; readonly position: string };

/** Waiting events up to the first that this release does not read. */
type ReadableEvents = {
  readonly events: readonly FollowedEvent[];
  /** The stream is done up to this revision once they are matched; `null` when nothing is done. */
  readonly upTo: bigint | null;
  /** `null` when the release reads all of these. */
  readonly unreadable: RecordedEvent | null;
  /** Number of waiting events that the log no longer has. */
  readonly lost: number;
};

const readWaiting = async (
  { database }: MatchingSession,
  stream: string,
): Promise<readonly WaitingEvent[]> => {
  const { rows } = await database.query<WaitingEvent>(
    `select revision::text, position::text from alerting.waiting_event w where stream = $1
     order by w.revision limit ${CONTINUE_EVENTS}`,
    [stream],
  );
  return rows;
};

/** Uses the stored positions, because an old server returns none here. */
const readEvents = async (
  { eventStore }: MatchingSession,
  stream: string,
  waiting: readonly WaitingEvent[],
): Promise<ReadableEvents> => {
  const [first, last] = [BigInt(waiting[0]?.revision ?? 0), BigInt(waiting.at(-1)?.revision ?? 0)];
  const positions = new Map(waiting.map(({ revision, position }) => [revision, BigInt(position)]));
  const events: FollowedEvent[] = [];
  let unreadable: RecordedEvent | null = null;
  for await (const event of eventStore.read(stream, first - 1n)) {
    if (event.revision > last) break;
    if (event.unreadable !== undefined) {
      unreadable = event;
      break;
    }
    const position = positions.get(String(event.revision)) ?? event.position;
    events.push({ ...event, position } as FollowedEvent);
  }
  const upTo = unreadable === null ? last : unreadable.revision - 1n;
  const expected = waiting.filter(({ revision }) => BigInt(revision) <= upTo).length;
  return { events, upTo: upTo < first ? null : upTo, unreadable, lost: expected - events.length };
};

/** The log clock has passed them, so digests put them into the current period. */
const matchLate = async (
  { progress, settings, eventStore }: MatchingSession,
  events: readonly FollowedEvent[],
): Promise<Pick<Outcome, 'matches' | 'ruleChanges'>> => {
  const outcome: Outcome = { matches: [], ruleChanges: [], taken: 0 };
  if (events[0]?.stream.startsWith('alertRule-')) {
    // One change to the last state: step by step, a rule disabled and enabled again would lose what it collected since.
    followRule(progress, events as readonly RecordedEvent<AlertRuleEvent>[], outcome);
    return outcome;
  }
  let position = 0n;
  const brandIds = events.flatMap(({ data }) => ('brand_id' in data ? [data.brand_id] : []));
  const rules = await readRulesThatFired(eventStore, progress.rules, [...new Set(brandIds)], () => position);
  const state = { ...progress, rules, waitingStreams: { setAside: () => false } };
  for (const event of events) {
    position = event.position;
    outcome.matches.push(...matchEvents(state, settings.baseUrl, [event]).matches);
  }
  return outcome;
};

const continueStream = async (session: MatchingSession, stream: string): Promise<void> => {
  const { progress, settings } = session;
  const { log } = settings;
  for (;;) {
    const waiting = await readWaiting(session, stream);
    if (waiting.length === 0) break;
    const { events, upTo, unreadable, lost } = await readEvents(session, stream, waiting);
    if (lost > 0) log.error({ stream, events: lost }, 'waiting events no longer in the log; not matched');
    if (upTo !== null) {
      // The events of a stream are those of one brand, or of few.
      await loadWhole(progress, events);
      const outcome = await matchLate(session, events);
      progress.waitingStreams.remove(stream, upTo);
      await commit(session, outcome, progress.position, { traces: tracesOf(events), isLate: true });
      forgetState(progress);
    }
    if (unreadable !== null) {
      log.error({ stream, type: unreadable.type, version: unreadable.unreadable }, 'stream still waits');
      return;
    }
  }
  log.info({ stream }, 'waiting stream continued');
};

/** Streams by name, after one stream. */
const readFirsts = async ({ database }: MatchingSession, after: string): Promise<readonly FirstWaiting[]> => {
  const { rows } = await database.query<FirstWaiting>(
    `select distinct on (stream) stream, type, version from alerting.waiting_event
     where stream > $1 order by stream, revision limit ${STREAMS_PER_PAGE}`,
    [after],
  );
  return rows;
};

/**
 * Called before the subscription starts, since each release runs in its own process. Deliveries and the removal of
 * waiting events commit together, so each event is matched once.
 */
export const continueWaitingStreams = async (
  session: MatchingSession,
  leading: AbortSignal,
): Promise<void> => {
  let after = '';
  for (
    let page = await readFirsts(session, after);
    page.length > 0;
    page = await readFirsts(session, after)
  ) {
    for (const { stream, type, version } of page) {
      if (leading.aborted) return;
      if (canRead({ stream, type, version: Number(version) })) await continueStream(session, stream);
    }
    after = page.at(-1)?.stream ?? '';
  }
};
