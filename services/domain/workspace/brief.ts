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

/**
 * Aggregate brief, stream `brief-<workspaceId>+<briefId>`: one weekly brief and the feedback on it.
 * Parts, in order: state, evolve, weeks, choice of items, decisions (`prepareBrief`, `giveBriefFeedback`).
 */

export type BriefState = {
  readonly prepared: BriefPrepared['data'];
  readonly feedback: BriefFeedback | null;
} | null;

const initial = null as BriefState;

const evolve = (state: BriefState, event: BriefEvent): BriefState => {
  switch (event.type) {
    case 'BriefPrepared':
      return { prepared: event.data, feedback: null };
    case 'BriefFeedbackGiven':
      return state && { ...state, feedback: event.data.feedback };
  }
};

export const brief: Decider<BriefState, BriefEvent> = { initial, evolve, snapshot: jsonSnapshot(1) };

/** An ISO week; `from` is its Monday and `to` its Sunday, as calendar dates in UTC. */
export type Week = { readonly name: string; readonly from: string; readonly to: string };

/** Hour of the day, in UTC, at which the briefs of a week are due on the Monday after it. */
export const BRIEF_DUE_HOUR = 6;
/** Maximum weeks to catch up with after an outage. Older weeks are left out. */
export const BRIEF_WEEKS_MISSED_MAX = 4;

/** Returns the day of the week; Monday is 0. 1 January 1970 was a Thursday. */
const weekdayOf = (ms: number): number => (Math.floor(ms / DAY_MS) + 3) % 7;

/** Returns the week that begins on a Monday. By ISO 8601 a week belongs to the year of its Thursday. */
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

/** Returns the last `BRIEF_WEEKS_MISSED_MAX` weeks whose briefs are due at `now`, oldest first. */
export const weeksDue = (now: Date): readonly Week[] => {
  const due = now.getTime() - BRIEF_DUE_HOUR * HOUR_MS;
  const midnight = Math.floor(due / DAY_MS) * DAY_MS;
  const monday = midnight - weekdayOf(midnight) * DAY_MS;
  return Array.from({ length: BRIEF_WEEKS_MISSED_MAX }, (_, index) =>
    weekFrom(monday - (BRIEF_WEEKS_MISSED_MAX - index) * WEEK_MS),
  );
};

/** Returns one id for a workspace and a week, so that a week has one brief. */
export const briefIdOf = (workspaceId: string, week: Week): string =>
  derivedId('brief', `${workspaceId}|${week.name}`);

/** Minimum days for an ad to count as long-running. This is observed survival, not performance. */
const LONG_RUNNING_DAYS = 60;

const isLongRunning = ({ ad, observed_at }: RadarSnapshot): boolean =>
  ad.started_on !== null && Date.parse(observed_at) - Date.parse(ad.started_on) >= LONG_RUNNING_DAYS * DAY_MS;

/** Returns a rank; a smaller rank is more notable. Changes of long-running ads are the most notable. */
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
 * Returns the most notable items, in this order: changed destinations of long-running ads, stops of long-running ads,
 * launches, other changed destinations, other stops. Within each group items are sorted newest first, then by id.
 * Items that a correction added come after all others; withdrawn ones are left out.
 * Items may be chosen page by page: adding a page to the earlier choice gives the same result as choosing from all.
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

/** Adds items to the counts. Withdrawn items do not count, items that a correction added do. */
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

/** Records the brief of a week. Records nothing when the brief exists or the workspace tracked no brand. */
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

/** Records feedback on a brief; `null` removes it. */
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
