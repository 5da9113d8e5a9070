import { Refusal } from '#contracts/errors.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { socialPageStream } from '#contracts/events/corpus/social-page.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { ACTIVITY_KINDS } from '#contracts/values/signals.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { signals } from '#projections/signals/project.ts';
import { listBrandSignals, listPagesOfBrands } from '#projections/signals/read.ts';
import { inLogOrder, readStreams, streamsOfBrand, streamsOfMove } from '../as-of/event-streams.ts';
import { PAST_EVENTS_MAX, type PastReads } from '../as-of/past-reads.ts';
import type { MatchedEvent } from './match-events.ts';
import { openRuleReplay, type RuleReplay, type SentMatch } from './rule-replay.ts';

/** Events in memory; the read of further ones is refused. */
export const BACKTEST_EVENTS_MAX = 20_000;

/** Only signals are made of these, so a backtest of other triggers does not keep them. */
export const ONLY_FOR_SIGNALS: ReadonlySet<string> = new Set<AdLibraryEvent['type']>([
  'AdDetailsObserved',
  'AdReturned',
  'AdRevised',
  'AdsMissed',
  'AdsReworded',
  'AdsSeen',
  'AdsStillInactive',
  'ScanCorrected',
]);

export type Backtest = {
  readonly sent: readonly SentMatch[];
  /** Events recorded since the beginning of the window. */
  readonly events: number;
  readonly eventsBefore: number;
  readonly eventsUnread: number;
};

type Dependencies = {
  readonly db: ReadDatabase;
  readonly eventStore: Pick<EventStore, 'read'>;
  readonly pastReads: PastReads;
  readonly baseUrl: string;
};
type Window = { readonly since: Date; readonly until: Date };

const tooMany = (max: number): Refusal => {
  const message = `their streams have more than ${max.toLocaleString('en')} events; name fewer brands`;
  return new Refusal('invalid_input', 'The backtest is about too many events.', [
    { path: 'brand_ids', message, code: 'too_big' },
  ]);
};

type Read = {
  readonly kept: readonly MatchedEvent[];
  readonly events: number;
  readonly eventsBefore: number;
};

/** Reads the streams of the rule's brands and returns their events in the order of the log. */
const readEvents = async (
  { db, eventStore }: Dependencies,
  { workspace_id, brand_ids, trigger }: AlertRule,
  { since, until }: Window,
): Promise<Read> => {
  const isActivity = trigger === 'activity';
  const pages = await listPagesOfBrands(db, brand_ids);
  const streams = [
    trackingStream(workspace_id),
    ...brand_ids.flatMap(streamsOfBrand),
    ...pages.map(socialPageStream),
  ];
  const kept: MatchedEvent[] = [];
  const counts = { events: 0, eventsBefore: 0 };
  await readStreams(eventStore, streams, async (recorded) => {
    const event = recorded as MatchedEvent;
    if (event.recordedAt > until) return [];
    if (counts.events + counts.eventsBefore >= PAST_EVENTS_MAX) throw tooMany(PAST_EVENTS_MAX);
    if (event.recordedAt < since) counts.eventsBefore += 1;
    else counts.events += 1;
    if (isActivity || event.unreadable !== undefined || !ONLY_FOR_SIGNALS.has(event.type)) kept.push(event);
    if (kept.length > BACKTEST_EVENTS_MAX) throw tooMany(BACKTEST_EVENTS_MAX);
    if (event.unreadable !== undefined) return [];
    if (event.type === 'AdAttributed') return streamsOfMove(event.data);
    return isActivity && event.type === 'BrandRegistered' ? [storefrontStream(event.data.domain)] : [];
  });
  return { kept: kept.toSorted(inLogOrder), ...counts };
};

const isOfSignals = ({ stream }: RecordedEvent): boolean =>
  signals.prefixes.some((prefix) => stream.startsWith(prefix));

/** Signals follow from the rows of their read model, as they were after the event of each check. */
export const replayWithSignals = <E extends RecordedEvent>(
  pastReads: PastReads,
  kept: readonly E[],
  follow: (event: E) => ReturnType<RuleReplay['follow']>,
  replay: Pick<RuleReplay, 'notify'>,
): Promise<void> =>
  pastReads.follow([signals.name], async (db, write) => {
    let unwritten: E[] = [];
    for (const event of kept) {
      if (event.unreadable === undefined && isOfSignals(event)) unwritten.push(event);
      const check = follow(event);
      if (check === null) continue;
      await write(unwritten);
      unwritten = [];
      const { brand_id, date } = check;
      replay.notify(check, await listBrandSignals(db, brand_id, { from: date, to: date }, ACTIVITY_KINDS));
    }
  });

/** Appends and sends nothing. `window`: the time in which the rule is supposed to have existed. */
export const backtestRule = async (
  dependencies: Dependencies,
  rule: AlertRule,
  window: Window,
): Promise<Backtest> => {
  const { kept, ...counts } = await readEvents(dependencies, rule, window);
  const replay = openRuleReplay(rule, dependencies.baseUrl);
  const follow = (event: MatchedEvent) => replay.follow(event, event.recordedAt >= window.since);
  if (rule.trigger === 'activity') await replayWithSignals(dependencies.pastReads, kept, follow, replay);
  else for (const event of kept) follow(event);
  replay.endPeriods(window.until.toISOString());
  return { sent: replay.sent, ...counts, eventsUnread: replay.unread() };
};
