import type { AlertCadence } from '#contracts/values/alerts.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { type BrandPage, periodOf, UNKNOWN_PAGE } from '#domain/workspace/alert/match-events.ts';
import { type ActivitySignal, type DeliveryContent, signalItem } from '#domain/workspace/alert/payload.ts';
import { type AlertRule, isActive } from '#domain/workspace/alert/rule-decider.ts';
import {
  advanceClock,
  brandNameOf,
  type BrandProfile,
  digestMatch,
  itemMatch,
  type Match,
  type MatchedEvent,
  matchEvent,
  type MatchingState,
  type SignalCheck,
  UNKNOWN_BRAND,
} from './match-events.ts';
import { countMessage, dueTime, openDayCounts, reachesThreshold } from './limits.ts';
import {
  addContent,
  addItem,
  contentOf,
  contentOfScan,
  NOTHING_STORED,
  type PendingEntry,
  type PendingItem,
} from './pending-items.ts';

/** Matches events against one rule in memory, as the process `alerts` does against all rules with its tables. */

export type SentMatch = Omit<Match, 'matched'> & {
  readonly matched: DeliveryContent;
  /** After `at` where quiet hours are. */
  readonly due: string;
};

export type RuleReplay = {
  /** The rule is as changed from the next event on. */
  change(rule: AlertRule): void;
  /**
   * Takes the events in the order of the log. `fires` is false for those from before the rule. Returns the signal check
   * that the event is followed by.
   */
  follow(event: MatchedEvent, fires: boolean): SignalCheck | null;
  /** `signals`: those of the day of the check, after its event. */
  notify(check: SignalCheck, signals: readonly ActivitySignal[]): void;
  /** Sends the digests of the periods that ended by `time`. */
  endPeriods(time: string): void;
  /** In the order in which they were sent. */
  readonly sent: readonly SentMatch[];
  /** Events that this release cannot read, and those after them in their streams. */
  unread(): number;
};

export const openRuleReplay = (initial: AlertRule, baseUrl: string): RuleReplay => {
  let rule = initial;
  const profiles = new Map<string, BrandProfile>();
  const pages = new Map<string, BrandPage>();
  const untracked = new Set<string>();
  const waitingStreams = new Set<string>();
  const scans = new Map<string, PendingEntry>();
  const digests = new Map<string, PendingEntry>();
  const withdrawn = new Map<string, string>();
  const notified = new Set<string>();
  const sent: SentMatch[] = [];
  let isThere = false;
  let check: SignalCheck | null = null;
  let unread = 0;
  const firing: MatchingState['rules']['firing'] = (brandId, trigger) =>
    isThere && isActive(rule) && rule.trigger === trigger && rule.brand_ids.includes(brandId) ? [rule] : [];
  const entryOf = (cadence: AlertCadence, key: string): PendingEntry => {
    const group = cadence === 'instant' ? scans : digests;
    const entry = group.get(key) ?? {
      alert_id: rule.alert_id,
      cadence,
      key,
      stored: null,
      as_of: '',
      fresh: [],
    };
    group.set(key, entry);
    return entry;
  };
  const state: MatchingState = {
    brands: {
      nameOf: (brandId) => brandNameOf(brandId, profiles.get(brandId) ?? UNKNOWN_BRAND),
      lastCompleteAt: (brandId) => profiles.get(brandId)?.last_complete_at ?? null,
      page: (brandId, pageId) => pages.get(`${brandId} ${pageId}`) ?? UNKNOWN_PAGE,
      setBrand: (brandId, changes) => {
        profiles.set(brandId, { ...UNKNOWN_BRAND, ...profiles.get(brandId), ...changes });
      },
      setPage: (brandId, pageId, page) => void pages.set(`${brandId} ${pageId}`, page),
    },
    rules: { get: () => rule, firing },
    untracked: {
      has: (_, brandId) => untracked.has(brandId),
      follow: ({ type, data }) => {
        if (type === 'BrandUntracked') untracked.add(data.brand_id);
        else untracked.delete(data.brand_id);
      },
    },
    pendingDigests: {
      add: (_, cadence, key, item, source = null) => {
        addItem(entryOf(cadence, key), item, source);
      },
      withdraw: (source, at) => {
        if (!withdrawn.has(source)) withdrawn.set(source, at);
      },
      endScan: (brandId) => {
        const entry = scans.get(brandId);
        scans.delete(brandId);
        return entry ? [{ ...entry, withdrawn: new Set(withdrawn.keys()) }] : [];
      },
    },
    signalChecks: { add: (added) => void (check = added) },
    logTime: '',
    digestsDue: false,
  };

  const counts = openDayCounts();
  const send = (match: Omit<Match, 'matched'>, matched: DeliveryContent): void => {
    const { kind, at } = match;
    if (!reachesThreshold(rule, kind, matched)) return;
    const day = kind === 'alert' ? countMessage(rule, at, counts) : null;
    if (day === null) sent.push({ ...match, matched, due: dueTime(rule, at) });
    else addContent(entryOf('daily', day), matched);
  };
  const isSetAside = ({ stream, unreadable }: RecordedEvent): boolean => {
    if (unreadable !== undefined) waitingStreams.add(stream);
    return waitingStreams.has(stream);
  };
  const endPeriods: RuleReplay['endPeriods'] = (time) => {
    for (const [key, { cadence, fresh, as_of }] of digests) {
      if (cadence === 'instant') continue;
      const period = periodOf(cadence, key);
      if (period.end > time) continue;
      digests.delete(key);
      const isLeft = ({ source }: PendingItem): boolean =>
        source === null || (withdrawn.get(source) ?? period.end) >= period.end;
      const matched = contentOf(NOTHING_STORED, fresh.filter(isLeft), as_of);
      send(digestMatch(rule, period, matched), matched);
    }
  };

  return {
    change: (changed) => {
      rule = changed;
    },
    follow: (event, fires) => {
      const time = event.recordedAt.toISOString();
      isThere = fires;
      check = null;
      advanceClock(state, time);
      endPeriods(state.logTime);
      if (isSetAside(event)) {
        unread += 1;
        return null;
      }
      const matches: Match[] = [];
      matchEvent(state, baseUrl, event, matches);
      for (const match of matches) {
        const { matched } = match;
        send(match, 'cadence' in matched ? contentOfScan(matched) : matched);
      }
      return check;
    },
    notify: ({ brand_id, at }, signals) => {
      for (const signal of signals) {
        if (notified.has(signal.id)) continue;
        notified.add(signal.id);
        const brand = state.brands.nameOf(brand_id);
        const item = signalItem(signal, brand, rule.workspace_id, baseUrl);
        if (rule.cadence === 'instant') {
          const match = itemMatch(rule, signal.id, at, item);
          send(match, match.matched);
        } else state.pendingDigests.add(rule.alert_id, rule.cadence, periodOf(rule.cadence, at).from, item);
      }
    },
    endPeriods,
    sent,
    unread: () => unread,
  };
};
