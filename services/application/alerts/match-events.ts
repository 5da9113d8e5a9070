import { utcDate } from '#contracts/values/time.ts';
import type { AlertCadence, AlertTrigger } from '#contracts/values/alerts.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type {
  AdAttributed,
  AdObservationCorrected,
  Occurrence,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { StorefrontEvent } from '#contracts/events/corpus/storefront.ts';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import type { AlertItem } from '#contracts/webhooks/alert-payload.ts';
import {
  type BrandPage,
  digestCause,
  occurrenceKey,
  occurrenceOf,
  type TriggerEvent,
  triggersOfLibraryEvent,
  matchAdOnPage,
  matchPageLink,
  type Period,
  periodOf,
} from '#domain/workspace/alert/match-events.ts';
import { alertItem, type BrandName, type DeliveryContent } from '#domain/workspace/alert/payload.ts';
import type { AlertRule, AlertRuleState } from '#domain/workspace/alert/rule-decider.ts';
import type { EndedScan } from './pending-items.ts';

/** Matching of events and rules, for the process `alerts` and for the backtest of a rule. */

export type MatchedEvent = RecordedEvent<
  AdLibraryEvent | BrandEvent | SocialPageEvent | StorefrontEvent | TrackingEvent
>;

/** One alert or digest for each channel of a rule, as the rule was at that log position. */
export type Match = {
  readonly rule: AlertRule;
  readonly kind: 'alert' | 'digest';
  readonly cause: string;
  readonly period: Period | null;
  readonly at: string;
  readonly matched: EndedScan | DeliveryContent;
};

/** Checks a brand's signals of one day, after a scan or page link. Only for rules that fire on activity. */
export type SignalCheck = {
  /** The signals read model must have passed this event. */
  readonly position: bigint;
  readonly brand_id: string;
  readonly date: string;
  readonly at: string;
  readonly alert_ids: readonly string[];
};

export type BrandProfile = {
  readonly slug: string | null;
  readonly name: string | null;
  readonly logo_url: string | null;
  readonly last_complete_at: string | null;
};
export const UNKNOWN_BRAND: BrandProfile = { slug: null, name: null, logo_url: null, last_complete_at: null };

/** A brand may be scanned before it is registered. No rule can refer to it then, so its id suffices. */
export const brandNameOf = (brand_id: string, { slug, name, logo_url }: BrandProfile): BrandName => ({
  brand_id,
  slug: slug ?? brand_id,
  name: name ?? brand_id,
  logo_url,
});

/** State at one log position. */
export type MatchingState = {
  readonly brands: {
    nameOf(brandId: string): BrandName;
    lastCompleteAt(brandId: string): string | null;
    page(brandId: string, pageId: string): BrandPage;
    setBrand(brandId: string, changes: Partial<BrandProfile>): void;
    setPage(brandId: string, pageId: string, page: BrandPage): void;
  };
  readonly rules: {
    get(alertId: string): AlertRuleState;
    firing(brandId: string, trigger: AlertTrigger): readonly AlertRule[];
  };
  /** A rule keeps an untracked brand, but fires on it only while its workspace tracks it. */
  readonly untracked: {
    has(workspaceId: string, brandId: string): boolean;
    follow(event: TrackingEvent): void;
  };
  readonly pendingDigests: {
    add(alertId: string, cadence: AlertCadence, key: string, item: AlertItem, source?: string | null): void;
    /** Affects entries that are not yet closed. `at` is the log time. */
    withdraw(source: string, at: string): void;
    endScan(brandId: string): readonly EndedScan[];
  };
  readonly signalChecks: { add(check: SignalCheck): void };
  logTime: string;
  digestsDue: boolean;
};

/** Returns only rules of workspaces that track the brand. */
const firing = (
  { rules, untracked }: MatchingState,
  brandId: string,
  trigger: AlertTrigger,
): readonly AlertRule[] =>
  rules.firing(brandId, trigger).filter(({ workspace_id }) => !untracked.has(workspace_id, brandId));

/** Digest periods end with a UTC day. */
export const advanceClock = (state: Pick<MatchingState, 'logTime' | 'digestsDue'>, time: string): void => {
  if (time <= state.logTime) return;
  if (utcDate(time) !== utcDate(state.logTime)) state.digestsDue = true;
  state.logTime = time;
};

/** Calls `now` for rules with instant cadence. */
const collect = (
  state: MatchingState,
  baseUrl: string,
  happening: TriggerEvent,
  now: (rule: AlertRule, item: AlertItem) => void,
  source: string | null = null,
): void => {
  const { brand_id, trigger } = happening;
  const rules = firing(state, brand_id, trigger);
  if (rules.length === 0) return;
  const item = alertItem(happening, state.brands.nameOf(brand_id), baseUrl);
  for (const rule of rules) {
    const { alert_id, cadence } = rule;
    if (cadence !== 'instant') {
      state.pendingDigests.add(alert_id, cadence, periodOf(cadence, state.logTime).from, item, source);
    } else now(rule, item);
  }
};

/** The check runs once the read model has passed this event. */
const scheduleSignalCheck = (
  state: MatchingState,
  { position, recordedAt, data }: RecordedEvent<Event<string, { brand_id: string; observed_at: string }>>,
): void => {
  const { brand_id, observed_at } = data;
  const alert_ids = firing(state, brand_id, 'activity').map(({ alert_id }) => alert_id);
  if (alert_ids.length === 0) return;
  state.signalChecks.add({
    position,
    brand_id,
    date: utcDate(observed_at),
    at: recordedAt.toISOString(),
    alert_ids,
  });
};

/**
 * A correction is never news. Withdrawn items leave unsent digests; an item added again with other details stays. A
 * page on which the ad runs is not a new partner later.
 */
const applyCorrection = (
  { brands, pendingDigests, logTime }: MatchingState,
  { type, data }: RecordedEvent<AdObservationCorrected | AdAttributed>,
): void => {
  const { brand_id } = data;
  if (type === 'AdObservationCorrected') {
    const keyOf = (one: Occurrence): string =>
      `${occurrenceKey(data.ad_id, one)}|${one.brand_id ?? brand_id}`;
    const stays = new Set(data.added.map(keyOf));
    for (const one of data.withdrawn) {
      if (!stays.has(keyOf(one))) pendingDigests.withdraw(occurrenceKey(data.ad_id, one), logTime);
    }
  } else if (brand_id !== data.to_brand_id) return;
  const { page_id } = type === 'AdObservationCorrected' ? data.after : data.ad;
  if (page_id === null) return;
  const page = brands.page(brand_id, page_id);
  if (!page.ran_ads) brands.setPage(brand_id, page_id, { ...page, ran_ads: true });
};

/** An instant alert covers one brand and scan, and is sent when the scan closes, however events are batched. */
const followLibrary = (
  state: MatchingState,
  baseUrl: string,
  event: RecordedEvent<AdLibraryEvent>,
  matches: Match[],
): void => {
  const { brand_id, observed_at } = event.data;
  if (event.type === 'AdObservationCorrected' || event.type === 'AdAttributed') {
    applyCorrection(state, event);
    return;
  }
  const happenings = [...triggersOfLibraryEvent(event.id, event)];
  const source = occurrenceOf(event);
  if (event.type === 'AdStarted' && event.data.page_id !== null) {
    const { page_id } = event.data;
    const before = state.brands.page(brand_id, page_id);
    const met = matchAdOnPage(event.id, event, before, state.brands.lastCompleteAt(brand_id));
    state.brands.setPage(brand_id, page_id, met.page);
    happenings.push(...met.happenings);
  }
  for (const happening of happenings) {
    collect(
      state,
      baseUrl,
      happening,
      ({ alert_id }, item) => {
        state.pendingDigests.add(alert_id, 'instant', brand_id, item, source);
      },
      source,
    );
  }
  if (event.type !== 'ScanRecorded') return;
  if (event.data.complete && observed_at > (state.brands.lastCompleteAt(brand_id) ?? '')) {
    state.brands.setBrand(brand_id, { last_complete_at: observed_at });
  }
  if (!event.data.late_arrival) scheduleSignalCheck(state, event);
  for (const one of state.pendingDigests.endScan(brand_id)) {
    const rule = state.rules.get(one.alert_id);
    const at = event.recordedAt.toISOString();
    if (rule) matches.push({ rule, kind: 'alert', cause: event.id, period: null, at, matched: one });
  }
};

const followBrand = ({ brands }: MatchingState, { type, data }: BrandEvent): void => {
  if (type === 'BrandRegistered') {
    const { brand_id, slug, name, logo_url } = data;
    brands.setBrand(brand_id, { slug, name, logo_url });
    return;
  }
  const { name, logo_url } = data.changes;
  if (name === undefined && logo_url === undefined) return;
  brands.setBrand(data.brand_id, {
    ...(name === undefined ? {} : { name }),
    ...(logo_url === undefined ? {} : { logo_url }),
  });
};

/** A page link belongs to no scan, so each link is an alert of its own. */
const followPage = (
  state: MatchingState,
  baseUrl: string,
  event: RecordedEvent<SocialPageEvent>,
  matches: Match[],
): void => {
  if (event.type === 'PageProfileObserved') return;
  const { brand_id, page_id } = event.data;
  const met = matchPageLink(event.id, event, state.brands.page(brand_id, page_id));
  state.brands.setPage(brand_id, page_id, met.page);
  if (event.type === 'PageLinked') scheduleSignalCheck(state, event);
  const at = event.recordedAt.toISOString();
  for (const happening of met.happenings) {
    collect(state, baseUrl, happening, (rule, item) => {
      matches.push(itemMatch(rule, event.id, at, item));
    });
  }
};

/** An instant alert of one item. */
export const itemMatch = (rule: AlertRule, cause: string, at: string, item: AlertItem) =>
  ({
    rule,
    kind: 'alert',
    cause,
    period: null,
    at,
    matched: { items: [item], items_total: 1, as_of: item.observed_at },
  }) as const;

/** The digest of an ended period. */
export const digestMatch = (rule: AlertRule, period: Period, matched: DeliveryContent) =>
  ({ rule, kind: 'digest', cause: digestCause(period), period, at: period.end, matched }) as const;

/** Matches an event against the rules at its log position, and adds to `matches`. */
export const matchEvent = (
  state: MatchingState,
  baseUrl: string,
  event: MatchedEvent,
  matches: Match[],
): void => {
  if (event.stream.startsWith('adLibrary-')) {
    followLibrary(state, baseUrl, event as RecordedEvent<AdLibraryEvent>, matches);
  } else if (event.stream.startsWith('brand-')) followBrand(state, event as RecordedEvent<BrandEvent>);
  else if (event.stream.startsWith('socialPage-')) {
    followPage(state, baseUrl, event as RecordedEvent<SocialPageEvent>, matches);
  } else if (event.stream.startsWith('tracking-'))
    state.untracked.follow(event as RecordedEvent<TrackingEvent>);
  else if (event.type === 'StorefrontScanRecorded') scheduleSignalCheck(state, event);
};
