import type { QuietHours } from '#contracts/values/alerts.ts';
import { utcDate } from '#contracts/values/time.ts';
import { periodOf } from '#domain/workspace/alert/match-events.ts';
import type { DeliveryContent } from '#domain/workspace/alert/payload.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';

/** Threshold, quiet hours and daily maximum of a rule. */

/** By time zone, because a new one takes as long as many times. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/** Clock time such as `22:00`. */
const localTime = (at: number, timeZone: string): string => {
  const known = clocks.get(timeZone);
  const clock =
    known ??
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  if (!known) clocks.set(timeZone, clock);
  return clock.format(at);
};

const isQuiet = ({ from, to, time_zone }: QuietHours, at: number): boolean => {
  const time = localTime(at, time_zone);
  return from < to ? from <= time && time < to : from <= time || time < to;
};

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** More than the longest quiet hours, a day less a minute, with a change of clocks. */
const STEPS_MAX = 2 * DAY_MINUTES;
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** `at`, or the end of the quiet hours in which it lies. Digests of a day or week have no quiet hours. */
export const dueTime = ({ cadence, quiet_hours }: AlertRule, at: string): string => {
  const start = Date.parse(at);
  if (cadence !== 'instant' || !quiet_hours || !isQuiet(quiet_hours, start)) return at;
  const { to, time_zone } = quiet_hours;
  let due = Math.floor(start / MINUTE_MS) * MINUTE_MS;
  const left = (minutesOf(to) - minutesOf(localTime(due, time_zone)) + DAY_MINUTES) % DAY_MINUTES;
  const end = due + left * MINUTE_MS;
  if (localTime(end, time_zone) === to) return new Date(end).toISOString();
  // Clocks are changed meanwhile: the end may not exist on this day, or come twice.
  for (let steps = 0; steps < STEPS_MAX && isQuiet(quiet_hours, due); steps += 1) due += MINUTE_MS;
  return new Date(due).toISOString();
};

/** False without items: corrections may have withdrawn all. The digest of an instant rule has what reached it before. */
export const reachesThreshold = (
  { cadence, threshold }: AlertRule,
  kind: 'alert' | 'digest',
  { items_total }: DeliveryContent,
): boolean => items_total >= (kind === 'digest' && cadence === 'instant' ? 1 : (threshold ?? 1));

/** Messages of a rule that are due on a UTC day. `isOver`: further ones wait for the digest of the day. */
export type DayCount = { readonly messages: number; readonly isOver: boolean };
const NO_MESSAGES: DayCount = { messages: 0, isOver: false };

export type DayCounts = {
  get(alertId: string, day: string): DayCount;
  set(alertId: string, day: string, count: DayCount): void;
};

/** Counts in memory. */
export const openDayCounts = (known: Map<string, DayCount> = new Map()): DayCounts => ({
  get: (alertId, day) => known.get(`${alertId} ${day}`) ?? NO_MESSAGES,
  set: (alertId, day, count) => void known.set(`${alertId} ${day}`, count),
});

/**
 * Counts an instant alert. Returns the day in whose digest its items are sent, because the day has as many messages as the
 * rule allows; null when the alert is sent itself. The digest is a message of the day on which it is due.
 */
export const countMessage = (rule: AlertRule, at: string, counts: DayCounts): string | null => {
  const { alert_id, cadence, max_per_day } = rule;
  if (cadence !== 'instant' || !max_per_day) return null;
  const day = utcDate(dueTime(rule, at));
  const { messages, isOver } = counts.get(alert_id, day);
  if (messages < max_per_day) {
    counts.set(alert_id, day, { messages: messages + 1, isOver });
    return null;
  }
  if (!isOver) {
    counts.set(alert_id, day, { messages, isOver: true });
    const next = utcDate(dueTime(rule, periodOf('daily', day).end));
    const ofNext = counts.get(alert_id, next);
    counts.set(alert_id, next, { ...ofNext, messages: ofNext.messages + 1 });
  }
  return day;
};
