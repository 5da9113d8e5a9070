import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import type { BenchName, FigureName } from '../figures.ts';

/** Interface of all benches: their context, their size, and medians of measurements. */

export interface Result {
  readonly bench: string;
  readonly figure: string;
  readonly measured: number;
  readonly ceiling: number | null;
  /** Measured value, divided by the ceiling. */
  readonly ratio: number | null;
}

export interface BenchContext<Name extends BenchName> {
  readonly rounds: number;
  print(line: string): void;
  /** `ratio`: median of paired rounds; the quotient of both values when absent. */
  record(figure: FigureName<Name>, measured: number, ceiling?: number, ratio?: number): void;
  skip(figure: FigureName<Name>, reason: string): void;
}

/** Figures are comparable only with figures of the same size. */
const { BENCH_SCALE, BENCH_ROUNDS, BENCH_READS, BENCH_REBUILD_EVENTS } = readSettings(
  z.object({
    BENCH_SCALE: z.coerce.number().gt(0).max(1).default(1),
    BENCH_ROUNDS: z.coerce.number().int().min(1).max(100).default(5),
    BENCH_READS: z.string().default(''),
    BENCH_REBUILD_EVENTS: z.coerce.number().int().min(1_000).default(60_000),
  }),
);

/** Share of the full rows, events, requests and durations. */
export const SCALE = BENCH_SCALE;
export const ROUNDS = BENCH_ROUNDS;
/** Regular expression of the rows to measure. */
export const READS = BENCH_READS;
export const REBUILD_EVENTS = BENCH_REBUILD_EVENTS;

/** Whole number, at least `min`. */
export const scaled = (full: number, min = 1): number =>
  Math.max(Math.min(min, full), Math.round(full * SCALE));

const ALL_SAMPLES_SCALE = 0.05;

/** Number of samples, or milliseconds of them. */
export const samples = (full: number): number =>
  Math.max(1, Math.round(full * Math.min(1, SCALE / ALL_SAMPLES_SCALE)));

/** `NaN` without values. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`;

export const METADATA = {
  $correlationId: 'bench',
  $causationId: 'bench',
  request_id: 'bench',
  actor: { kind: 'service', id: 'bench' },
  schema_version: 1,
} as const;

export interface Pairs<Sample> {
  of(pick: (sample: Sample) => number): {
    readonly measured: number;
    readonly ceiling: number;
    readonly ratio: number;
  };
}

/** Measures in turn, so that other load affects both sides. The first rounds warm up and do not count. */
export const measurePairs = async <Sample>(
  rounds: number,
  measureCeiling: () => Promise<Sample>,
  measureOurs: () => Promise<Sample>,
  warmUps = 1,
): Promise<Pairs<Sample>> => {
  const pairs: { readonly ceiling: Sample; readonly ours: Sample }[] = [];
  for (let round = -warmUps; round < rounds; round += 1) {
    const ceiling = await measureCeiling();
    const ours = await measureOurs();
    if (round >= 0) pairs.push({ ceiling, ours });
  }
  return {
    of: (pick) => ({
      measured: median(pairs.map(({ ours }) => pick(ours))),
      ceiling: median(pairs.map(({ ceiling }) => pick(ceiling))),
      ratio: median(pairs.map(({ ours, ceiling }) => pick(ours) / pick(ceiling))),
    }),
  };
};
