import { planRecord } from '#application/collecting/plan-sources.ts';
import type { SourcePlan } from '#application/collecting/plan-targets.ts';

/** Late targets that a table names. JSON has all. */
export const LATE_SHOWN = 10;
export const PLAN_COLUMNS = [
  'source',
  'targets',
  'calls_a_round',
  'days_a_round',
  'load',
  'looks_a_day',
  'late',
  'late_targets',
];

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Returns plans as rows of a table, with rounded figures. */
export const planRows = (plans: readonly SourcePlan[], lateMax: number) =>
  plans.map((plan) => ({
    ...planRecord(plan, lateMax),
    days_a_round: round(plan.daysPerRound),
    load: round(plan.load),
  }));
