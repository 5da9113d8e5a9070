import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/** Interface of all benches: how one is run, its size, and the results it records for the closing table. */

export interface BenchContext {
  readonly rounds: number;
  print(line: string): void;
  /** Adds a line to the closing table. */
  record(result: BenchResult): void;
}

export interface BenchResult {
  readonly bench: string;
  readonly measured: string;
  /** The value to compare with; `-` when the target is absolute. */
  readonly ceiling: string;
  readonly ratio: number | null;
  readonly target: string;
  readonly held: boolean;
}

/** Settings of the benches' sizes. Figures are comparable only with figures of the same size. */
const { BENCH_SCALE, BENCH_ROUNDS, BENCH_READS } = readSettings(
  z.object({
    BENCH_SCALE: z.coerce.number().gt(0).max(1).default(1),
    BENCH_ROUNDS: z.coerce.number().int().min(1).max(100).default(5),
    BENCH_READS: z.string().default(''),
  }),
);

/** Share of the full sizes: rows, events, requests and durations of the benches. */
export const SCALE = BENCH_SCALE;
/** Measured rounds per bench. */
export const ROUNDS = BENCH_ROUNDS;

/** Regular expression of the rows that `reads` measures. */
export const READS = BENCH_READS;

/** Returns this share of a size, a whole number, and never less than the size that the bench needs. */
export const scaled = (full: number, min = 1): number =>
  Math.max(Math.min(min, full), Math.round(full * SCALE));

/** Benches of this share of the full size or more take the full number of samples. */
const ALL_SAMPLES_SCALE = 0.05;

/** Returns how many samples of a value, or how many milliseconds of samples, a bench takes. */
export const samples = (full: number): number =>
  Math.max(1, Math.round(full * Math.min(1, SCALE / ALL_SAMPLES_SCALE)));

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')}/s`;
}

/** Formats the closing table: one line per measurement, and whether its target is met. */
export function closingTable(results: readonly BenchResult[]): string {
  const lines = [
    ['bench', 'measured', 'ceiling', 'ratio', 'target', ''],
    ...results.map(({ bench, measured, ceiling, ratio, target, held }) => [
      bench,
      measured,
      ceiling,
      ratio === null ? '-' : ratio.toFixed(2),
      target,
      held ? 'ok' : 'missed',
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}
