import { canonicalJson } from '#contracts/audit/canonical.ts';
import { Refusal } from '#contracts/errors.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import {
  type AlertDeliveryEvent,
  alertDeliveryStream,
  type DeliveryQueued,
} from '#contracts/events/workspace/alert-delivery.ts';
import {
  ALERT_RULE,
  type AlertRuleCreated,
  type AlertRuleEvent,
  alertRuleStream,
} from '#contracts/events/workspace/alert-rule.ts';
import type { AlertTrigger } from '#contracts/values/alerts.ts';
import type { AlertItem, AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { derivedId } from '#domain/ids.ts';
import { deliveryIdOf } from '#domain/workspace/alert/match-events.ts';
import { alertRule, type AlertRuleState, isActive } from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { inLogOrder, readStreams, streamsOfMove } from '../as-of/event-streams.ts';
import type { PastReads, StreamBasis } from '../as-of/past-reads.ts';
import { BACKTEST_EVENTS_MAX, ONLY_FOR_SIGNALS, replayWithSignals } from './backtest.ts';
import type { MatchedEvent } from './match-events.ts';
import { openRuleReplay, type RuleReplay, type SentMatch } from './rule-replay.ts';

/** Says why a delivery was sent: matches its rule, as it was then, against the events of its brands again. */

export type DeliveryKey = {
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly delivery_id: string;
};

export type Explanation = {
  /** When the delivery was queued in the log. */
  readonly queued: DeliveryQueued['data'];
  /** One sentence for each item, and one for a delivery without items. */
  readonly reasons: readonly { readonly item_id: string | null; readonly reason: string }[];
  /** A sentence for each thing of the delivery that the events do not give. */
  readonly faults: readonly string[];
  readonly streams: ReadonlyMap<string, StreamBasis>;
  /** When the event that queued it was recorded: later ones do not count. */
  readonly recordedAt: Date;
};

const CONDITIONS: Readonly<Record<AlertTrigger, string>> = {
  new_ads: 'ads that started',
  stopped_ads: 'ads that were confirmed inactive',
  page_changes: 'changed links of ads and newly linked pages',
  new_partners: 'new partners',
  activity: 'signals of activity',
};

type Queued = RecordedEvent<DeliveryQueued>;

/** `null` when the log has no such delivery. */
export const findQueued = async (
  eventStore: Pick<EventStore, 'read'>,
  { workspace_id, alert_id, delivery_id }: DeliveryKey,
): Promise<Queued | null> => {
  for await (const event of eventStore.read<AlertDeliveryEvent>(alertDeliveryStream(workspace_id, alert_id)))
    if (
      event.unreadable === undefined &&
      event.type === 'DeliveryQueued' &&
      event.data.delivery_id === delivery_id
    )
      return event;
  return null;
};

type Read = { readonly kept: readonly RecordedEvent[]; readonly streams: ReadonlyMap<string, StreamBasis> };

const tooMany = (): Refusal => {
  const message = `more than ${BACKTEST_EVENTS_MAX.toLocaleString('en')} events of its brands`;
  return new Refusal('invalid_input', `The delivery rests on ${message}.`, [
    { path: '', message, code: 'too_big' },
  ]);
};

/** Keeps the events up to the one that queued the delivery, in the order of the log. */
const readEvents = async (
  eventStore: Pick<EventStore, 'read'>,
  first: readonly string[],
  { until, isActivity }: { readonly until: Date; readonly isActivity: boolean },
): Promise<Read> => {
  const kept: RecordedEvent[] = [];
  const streams = new Map<string, { events: number; late: number; revision: bigint }>();
  await readStreams(eventStore, first, async (recorded) => {
    const event = recorded as MatchedEvent;
    const isIn = event.recordedAt <= until;
    const own = streams.get(event.stream) ?? { events: 0, late: 0, revision: 0n };
    streams.set(event.stream, {
      events: own.events + Number(isIn),
      late: own.late + Number(!isIn),
      revision: event.revision,
    });
    if (!isIn || event.stream.startsWith('alertDelivery-')) return [];
    if (isActivity || event.unreadable !== undefined || !ONLY_FOR_SIGNALS.has(event.type)) kept.push(event);
    if (kept.length > BACKTEST_EVENTS_MAX) throw tooMany();
    if (event.unreadable !== undefined) return [];
    if (event.type === 'AdAttributed') return streamsOfMove(event.data);
    return isActivity && event.type === 'BrandRegistered' ? [storefrontStream(event.data.domain)] : [];
  });
  return { kept: kept.toSorted(inLogOrder), streams };
};

/** Matches that the rule sent, with the rule as it was at each. */
const replayRule = async (
  pastReads: PastReads,
  kept: readonly RecordedEvent[],
  { payload }: DeliveryQueued['data'],
): Promise<readonly SentMatch[]> => {
  const created = kept.find(({ type }) => type === 'AlertRuleCreated');
  const first = created === undefined ? null : alertRule.evolve(null, created as AlertRuleCreated);
  if (first === null) return [];
  const replay = openRuleReplay(first, '');
  // Brands and pages are as the events from before the rule left them.
  let rule: AlertRuleState = alertRule.initial;
  const follow = (event: RecordedEvent): ReturnType<RuleReplay['follow']> => {
    if (!event.stream.startsWith(`${ALERT_RULE}-`))
      return replay.follow(event as MatchedEvent, isActive(rule));
    if (event.unreadable !== undefined) return null;
    rule = alertRule.evolve(rule, event as RecordedEvent<AlertRuleEvent>);
    if (rule !== null) replay.change(rule);
    return null;
  };
  if (payload.alert.trigger === 'activity') await replayWithSignals(pastReads, kept, follow, replay);
  else for (const event of kept) follow(event);
  replay.endPeriods(payload.created_at);
  return replay.sent;
};

/** Addresses of this service begin with its base URL, which may have changed since. */
const withoutBase = (url: string): string => url.slice(Math.max(0, url.indexOf('/v1/')));

/** The words of a signal may be others than those that its read model had then. */
const comparable = ({ brand, url, title, ...item }: AlertItem): string =>
  canonicalJson({
    ...item,
    url: withoutBase(url),
    brand: brand.id,
    title: item.type === 'activity' ? null : title,
  });

/** By the ids of the items that they give. */
const sourcesOf = (kept: readonly RecordedEvent[]): ReadonlyMap<string, RecordedEvent> =>
  new Map(
    kept.flatMap((event) => [
      [event.id, event],
      [derivedId('partner', event.id), event],
    ]),
  );

const reasonOf = (item: AlertItem, source: RecordedEvent | undefined, { alert }: AlertPayload): string => {
  const event =
    source === undefined
      ? `the signal ${item.signal ?? item.id}`
      : `event ${source.revision} of ${source.stream} (${source.type})`;
  return `${item.title} The rule “${alert.name}” tells of ${CONDITIONS[alert.trigger]} at ${item.brand.name}: ${event}, observed at ${item.observed_at}.`;
};

const KINDS = {
  test: 'A member asked for a test of the rule; it matches no event.',
  notice: 'The service suspended a channel of the rule, which had failed; it matches no event.',
} as const;

const isMatchOf =
  ({ alert_id, channel, kind, delivery_id }: DeliveryQueued['data']) =>
  (one: SentMatch): boolean =>
    one.kind === kind && deliveryIdOf(alert_id, channel, one.cause) === delivery_id;

const faultsOf = (queued: DeliveryQueued['data'], sent: readonly SentMatch[]): readonly string[] => {
  const { payload } = queued;
  const matched = new Map(sent.flatMap((one) => one.matched.items).map((item) => [item.id, item]));
  const faults = payload.items.flatMap((item) => {
    const found = matched.get(item.id);
    if (found === undefined) return [`The rule matched no item ${item.id} then.`];
    return comparable(found) === comparable(item) ? [] : [`Item ${item.id} is not as its event tells it.`];
  });
  // A message in place of several has the items of all.
  if (payload.merged !== undefined) return faults;
  const total = sent.find(isMatchOf(queued))?.matched.items_total;
  if (total === undefined) return [...faults, 'No match of the rule gives a delivery of this id.'];
  return total === payload.items_total
    ? faults
    : [...faults, `The rule matched ${total} items, and the delivery states ${payload.items_total}.`];
};

/** The event of a large payload lacks the items. */
const itemsOf = (queued: DeliveryQueued['data'], sent: readonly SentMatch[]): readonly AlertItem[] =>
  queued.payload_sha256 === undefined
    ? queued.payload.items
    : (sent.find(isMatchOf(queued))?.matched.items ?? []);

/** `first`: streams to begin with; those of the rule and its deliveries are read too. */
export const explainDelivery = async (
  { eventStore, pastReads }: { readonly eventStore: Pick<EventStore, 'read'>; readonly pastReads: PastReads },
  key: DeliveryKey,
  first: readonly string[],
): Promise<Explanation | null> => {
  const found = await findQueued(eventStore, key);
  if (found === null) return null;
  const { data: queued, recordedAt } = found;
  const { workspace_id, alert_id } = key;
  const own = [alertDeliveryStream(workspace_id, alert_id), alertRuleStream(workspace_id, alert_id)];
  const isActivity = queued.payload.alert.trigger === 'activity';
  const { kept, streams } = await readEvents(eventStore, [...own, ...first], {
    until: recordedAt,
    isActivity,
  });
  if (queued.kind === 'test' || queued.kind === 'notice')
    return {
      queued,
      streams,
      recordedAt,
      reasons: [{ item_id: null, reason: KINDS[queued.kind] }],
      faults: [],
    };
  const sent = await replayRule(pastReads, kept, queued);
  const sources = sourcesOf(kept);
  const reasons = itemsOf(queued, sent).map((item) => ({
    item_id: item.id,
    reason: reasonOf(item, sources.get(item.id), queued.payload),
  }));
  return { queued, streams, recordedAt, reasons, faults: faultsOf(queued, sent) };
};
