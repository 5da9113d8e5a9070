import { z } from 'zod';
import { archivePaceSettings } from '#application/collecting/archive-pace-settings.ts';
import { planRecord } from '#application/collecting/plan-sources.ts';
import type { SourcePlan } from '#application/collecting/plan-targets.ts';
import { environmentWithLocalStack, readSettings } from '#platform/settings.ts';

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

export const readArchiveCallsPerHour = (): number =>
  readSettings(z.object(archivePaceSettings), environmentWithLocalStack()).ADS_ARCHIVE_CALLS_PER_HOUR;

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

export const planRows = (plans: readonly SourcePlan[], lateMax: number) =>
  plans.map((plan) => ({
    ...planRecord(plan, lateMax),
    days_a_round: round(plan.daysPerRound),
    load: round(plan.load),
  }));
