import { Refusal } from '#contracts/errors.ts';
import type {
  BriefEvent,
  BriefPrepared,
  RadarChanges,
  RadarSnapshot,
} from '#contracts/events/workspace/brief.ts';
import { BRIEF_NOTABLE_MAX, type BriefFeedback } from '#contracts/resources/workspace/brief.ts';
import { derivedId } from '../ids.ts';

/** Stream `brief-<workspaceId>+<briefId>`: written once for its week, then told how good it was. */
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

export const brief = { initial, evolve };

/** An ISO week by its Monday and its Sunday, calendar dates in UTC. */
export type Week = { readonly name: string; readonly from: string; readonly to: string };

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** Briefs of a week are due on the Monday after it, at this hour in UTC. */
export const BRIEF_DUE_HOUR = 6;
/** After a longer time away, older weeks are left out. */
export const BRIEF_WEEKS_MISSED_MAX = 4;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
/** Monday is 0. 1970 began on a Thursday. */
const weekdayOf = (ms: number): number => (Math.floor(ms / DAY_MS) + 3) % 7;

/** ISO 8601: a week belongs to the year of its Thursday. */
const weekFrom = (mondayMs: number): Week => {
  const thursday = new Date(mondayMs + 3 * DAY_MS);
  const year = thursday.getUTCFullYear();
  const number = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / WEEK_MS) + 1;
  return {
    name: `${year}-W${String(number).padStart(2, '0')}`,
    from: dateOf(mondayMs),
    to: dateOf(mondayMs + 6 * DAY_MS),
  };
};

/** Weeks whose briefs are due at `now`, oldest first; at most as many as may be caught up with. */
export const weeksDue = (now: Date): readonly Week[] => {
  const due = now.getTime() - BRIEF_DUE_HOUR * 3_600_000;
  const midnight = Math.floor(due / DAY_MS) * DAY_MS;
  const monday = midnight - weekdayOf(midnight) * DAY_MS;
  return Array.from({ length: BRIEF_WEEKS_MISSED_MAX }, (_, place) =>
    weekFrom(monday - (BRIEF_WEEKS_MISSED_MAX - place) * WEEK_MS),
  );
};

/** One brief for a workspace and a week, however often it is prepared. */
export const briefIdOf = (workspaceId: string, week: Week): string =>
  derivedId('brief', `${workspaceId}|${week.name}`);

/** From as many days on an ad counts as long-running. Observed survival, not performance. */
const LONG_RUNNING_DAYS = 60;

const isLongRunning = ({ ad, observed_at }: RadarSnapshot): boolean =>
  ad.started_on !== null && Date.parse(observed_at) - Date.parse(ad.started_on) >= LONG_RUNNING_DAYS * DAY_MS;

/** The smaller, the more notable: what a brand changes about ads that it kept for long says most. */
const rankOf = (item: RadarSnapshot): number => {
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
 * The most notable items: changed destinations of long-running ads, stops of long-running ads, launches, other
 * changed destinations, other stops; newest first within each, then by id. Choosing from what was chosen before
 * and more comes to the same as choosing from all at once.
 */
export const chooseNotable = (items: readonly RadarSnapshot[]): readonly RadarSnapshot[] =>
  items
    .toSorted(
      (one, other) =>
        rankOf(one) - rankOf(other) ||
        Date.parse(other.observed_at) - Date.parse(one.observed_at) ||
        (one.id < other.id ? -1 : 1),
    )
    .slice(0, BRIEF_NOTABLE_MAX);

const NO_CHANGES: RadarChanges = { ads_started: 0, ads_stopped: 0, destinations_changed: 0 };

const FIELD_OF: Readonly<Record<RadarSnapshot['type'], keyof RadarChanges>> = {
  ad_started: 'ads_started',
  ad_stopped: 'ads_stopped',
  destination_changed: 'destinations_changed',
};

export const countChanges = (
  items: readonly Pick<RadarSnapshot, 'type'>[],
  before: RadarChanges = NO_CHANGES,
): RadarChanges => {
  const counts = { ...before };
  for (const { type } of items) counts[FIELD_OF[type]] += 1;
  return counts;
};

export const addChanges = (all: readonly RadarChanges[]): RadarChanges => {
  const sum = { ...NO_CHANGES };
  for (const field of Object.values(FIELD_OF)) for (const one of all) sum[field] += one[field];
  return sum;
};

const totalOf = (one: RadarChanges): number => one.ads_started + one.ads_stopped + one.destinations_changed;

/** Writes a week's brief. One that is there stays as it is; a workspace that tracked nothing has none. */
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
        (one, other) => totalOf(other) - totalOf(one) || (one.brand_id < other.brand_id ? -1 : 1),
      ),
      notable_items: chooseNotable(notable_items),
      prepared_at: at,
    };
    return [{ type: 'BriefPrepared', data }];
  };

/** Says how good a brief was; `null` takes that back. */
export const giveBriefFeedback =
  (input: {
    readonly workspace_id: string;
    readonly brief_id: string;
    readonly feedback: BriefFeedback | null;
    readonly at: string;
  }) =>
  (state: BriefState): readonly BriefEvent[] => {
    const { workspace_id, brief_id, feedback, at } = input;
    if (!state) throw new Refusal('not_found', 'The workspace has no such brief.');
    if (state.feedback === feedback) return [];
    return [{ type: 'BriefFeedbackGiven', data: { workspace_id, brief_id, feedback, given_at: at } }];
  };
