import { DAY_MS, HOUR_MS, WEEK_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { Refusal } from '#contracts/errors.ts';
import type {
  BriefEvent,
  BriefPrepared,
  RadarChanges,
  RadarSnapshot,
} from '#contracts/events/workspace/brief.ts';
import type { RadarCorrection } from '#contracts/resources/workspace/radar.ts';
import { BRIEF_NOTABLE_MAX, type BriefFeedback } from '#contracts/resources/workspace/brief.ts';
import { type Decider, jsonSnapshot } from '../decider.ts';
import { derivedId } from '../ids.ts';
import { type Compared, restate, takeRestated, type Told } from './restatement.ts';

/** Aggregate brief, stream `brief-<workspaceId>+<briefId>`: one weekly brief and the feedback on it. */

export type BriefState = {
  readonly prepared: BriefPrepared['data'];
  readonly feedback: BriefFeedback | null;
  readonly told: Told | null;
} | null;

const initial = null as BriefState;

const evolve = (state: BriefState, event: BriefEvent): BriefState => {
  switch (event.type) {
    case 'BriefPrepared':
      return { prepared: event.data, feedback: null, told: null };
    case 'BriefFeedbackGiven':
      return state && { ...state, feedback: event.data.feedback };
    case 'BriefRestated':
      return state && { ...state, told: takeRestated(state.told, event.data) };
  }
};

export const brief: Decider<BriefState, BriefEvent> = { initial, evolve, snapshot: jsonSnapshot(2) };

export type Week = { readonly name: string; readonly from: string; readonly to: string };

export const BRIEF_DUE_HOUR = 6;
/** Weeks that are prepared after an outage; older ones are omitted. */
export const BRIEF_WEEKS_MISSED_MAX = 4;

/** Monday is 0; 1 January 1970 was a Thursday. */
const weekdayOf = (ms: number): number => (Math.floor(ms / DAY_MS) + 3) % 7;

/** By ISO 8601 a week belongs to the year of its Thursday. */
const weekFrom = (mondayMs: number): Week => {
  const thursday = new Date(mondayMs + 3 * DAY_MS);
  const year = thursday.getUTCFullYear();
  const number = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / WEEK_MS) + 1;
  return {
    name: `${year}-W${String(number).padStart(2, '0')}`,
    from: utcDateOfMs(mondayMs),
    to: utcDateOfMs(mondayMs + 6 * DAY_MS),
  };
};

export const weeksDue = (now: Date): readonly Week[] => {
  const due = now.getTime() - BRIEF_DUE_HOUR * HOUR_MS;
  const midnight = Math.floor(due / DAY_MS) * DAY_MS;
  const monday = midnight - weekdayOf(midnight) * DAY_MS;
  return Array.from({ length: BRIEF_WEEKS_MISSED_MAX }, (_, index) =>
    weekFrom(monday - (BRIEF_WEEKS_MISSED_MAX - index) * WEEK_MS),
  );
};

export const briefIdOf = (workspaceId: string, week: Week): string =>
  derivedId('brief', `${workspaceId}|${week.name}`);

/** Long-running is observed survival, not performance. */
const LONG_RUNNING_DAYS = 60;

const isLongRunning = ({ ad, observed_at }: RadarSnapshot): boolean =>
  ad.started_on !== null && Date.parse(observed_at) - Date.parse(ad.started_on) >= LONG_RUNNING_DAYS * DAY_MS;

/** A smaller rank is more notable. */
const notabilityRank = (item: RadarSnapshot): number => {
  switch (item.type) {
    case 'destination_changed':
      return isLongRunning(item) ? 0 : 3;
    case 'ad_stopped':
      return isLongRunning(item) ? 1 : 4;
    case 'ad_started':
      return 2;
  }
};

/**
 * Order: changed destinations of long-running ads, their stops, launches, other changed destinations, other stops; newest
 * first, then by id. Corrections come last. Choosing page by page gives the same result.
 */
export const chooseNotable = (items: readonly RadarSnapshot[]): readonly RadarSnapshot[] =>
  items
    .filter(({ correction }) => correction !== 'withdrawn')
    .toSorted(
      (one, other) =>
        Number(one.correction === 'added') - Number(other.correction === 'added') ||
        notabilityRank(one) - notabilityRank(other) ||
        Date.parse(other.observed_at) - Date.parse(one.observed_at) ||
        (one.id < other.id ? -1 : 1),
    )
    .slice(0, BRIEF_NOTABLE_MAX);

const NO_CHANGES: RadarChanges = { ads_started: 0, ads_stopped: 0, destinations_changed: 0 };

const CHANGE_FIELDS: Readonly<Record<RadarSnapshot['type'], keyof RadarChanges>> = {
  ad_started: 'ads_started',
  ad_stopped: 'ads_stopped',
  destination_changed: 'destinations_changed',
};

/** Omits withdrawn items, includes those of corrections. */
export const countChanges = (
  items: readonly { readonly type: RadarSnapshot['type']; readonly correction?: RadarCorrection | null }[],
  before: RadarChanges = NO_CHANGES,
): RadarChanges => {
  const counts = { ...before };
  for (const { type, correction } of items) {
    if (correction !== 'withdrawn') counts[CHANGE_FIELDS[type]] += 1;
  }
  return counts;
};

export const addChanges = (all: readonly RadarChanges[]): RadarChanges => {
  const sum = { ...NO_CHANGES };
  for (const field of Object.values(CHANGE_FIELDS)) for (const one of all) sum[field] += one[field];
  return sum;
};

const totalChanges = (one: RadarChanges): number =>
  one.ads_started + one.ads_stopped + one.destinations_changed;

export const prepareBrief =
  (input: {
    readonly workspace_id: string;
    readonly week: Week;
    readonly brands: readonly ({ readonly brand_id: string } & RadarChanges)[];
    readonly notable_items: readonly RadarSnapshot[];
    readonly at: string;
  }) =>
  (state: BriefState): readonly BriefEvent[] => {
    const { workspace_id, week, brands, notable_items, at } = input;
    if (state || brands.length === 0) return [];
    const data = {
      workspace_id,
      brief_id: briefIdOf(workspace_id, week),
      week: week.name,
      from: week.from,
      to: week.to,
      brands: brands.toSorted(
        (one, other) => totalChanges(other) - totalChanges(one) || (one.brand_id < other.brand_id ? -1 : 1),
      ),
      notable_items: chooseNotable(notable_items),
      prepared_at: at,
    };
    return [{ type: 'BriefPrepared', data }];
  };

export const giveBriefFeedback =
  (input: {
    readonly workspace_id: string;
    readonly brief_id: string;
    readonly feedback: BriefFeedback | null;
    readonly at: string;
  }) =>
  (state: BriefState): readonly BriefEvent[] => {
    const { workspace_id, brief_id, feedback, at } = input;
    if (!state) throw new Refusal('not_found', 'Brief not found.');
    if (state.feedback === feedback) return [];
    return [{ type: 'BriefFeedbackGiven', data: { workspace_id, brief_id, feedback, given_at: at } }];
  };

export const restateBrief =
  (compared: Compared) =>
  (state: BriefState): readonly BriefEvent[] =>
    state === null
      ? []
      : restate(state.told, compared).map((restated) => {
          const { workspace_id, brief_id } = state.prepared;
          return { type: 'BriefRestated', data: { workspace_id, brief_id, ...restated } };
        });
