import type { DayFigures, WeekFigures } from '../world.ts';
import { DAY_MS, dayOf } from './observations.ts';

const mondayOf = (day: string): string => {
  const sinceMonday = (new Date(day).getUTCDay() + 6) % 7;
  return dayOf(new Date(Date.parse(day) - sinceMonday * DAY_MS).toISOString());
};

/** Each week has the active ads of its last observed day, and the new and retired ads of its reliable days. */
export const weeklyFigures = (days: Readonly<Record<string, DayFigures>>): Record<string, WeekFigures> => {
  const weeks: Record<string, WeekFigures> = {};
  for (const [key, day] of Object.entries(days).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [brand = '', date = ''] = key.split(' ');
    const week = `${brand} ${mondayOf(date)}`;
    const before = weeks[week] ?? { new: 0, retired: 0, reliable_days: 0 };
    const counted = day.reliable ? day : { new: 0, retired: 0 };
    weeks[week] = {
      active: day.active,
      new: before.new + counted.new,
      retired: before.retired + counted.retired,
      reliable_days: before.reliable_days + (day.reliable ? 1 : 0),
    };
  }
  return weeks;
};
