import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import type { BenchName, FigureName } from '../figures.ts';

/** Interface of all benches: their context, their size, and medians of measurements. */

/** A measured figure, in the unit of its row in `figures.ts`. */
export interface Result {
  readonly bench: string;
  readonly figure: string;
  readonly measured: number;
  readonly ceiling: number | null;
  /** Measured value divided by the ceiling. */
  readonly ratio: number | null;
}

export interface BenchContext<Name extends BenchName> {
  readonly rounds: number;
  print(line: string): void;
  /** Records a figure. `ratio`: median of the ratios of paired rounds; the quotient of both values when absent. */
  record(figure: FigureName<Name>, measured: number, ceiling?: number, ratio?: number): void;
  /** States why a figure is not measured in this run. */
  skip(figure: FigureName<Name>, reason: string): void;
}

/** Settings of the benches' sizes. Figures are comparable only with figures of the same size. */
const { BENCH_SCALE, BENCH_ROUNDS, BENCH_READS, BENCH_REBUILD_EVENTS } = readSettings(
  z.object({
    BENCH_SCALE: z.coerce.number().gt(0).max(1).default(1),
    BENCH_ROUNDS: z.coerce.number().int().min(1).max(100).default(5),
    BENCH_READS: z.string().default(''),
    BENCH_REBUILD_EVENTS: z.coerce.number().int().min(1_000).default(60_000),
  }),
);

/** Share of the full sizes: rows, events, requests and durations of the benches. */
export const SCALE = BENCH_SCALE;
/** Measured rounds per bench. */
export const ROUNDS = BENCH_ROUNDS;
/** Regular expression of the rows that `reads` measures. */
export const READS = BENCH_READS;
/** Events of `rebuild-under-load` at full size. */
export const REBUILD_EVENTS = BENCH_REBUILD_EVENTS;

/** Returns this share of a size, a whole number, and never less than the size that the bench needs. */
export const scaled = (full: number, min = 1): number =>
  Math.max(Math.min(min, full), Math.round(full * SCALE));

/** Benches of this share of the full size or more take the full number of samples. */
const ALL_SAMPLES_SCALE = 0.05;

/** Returns how many samples of a value, or how many milliseconds of samples, a bench takes. */
export const samples = (full: number): number =>
  Math.max(1, Math.round(full * Math.min(1, SCALE / ALL_SAMPLES_SCALE)));

/** Returns the value below which this share of the values lies, `NaN` without values. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`;

/** Metadata of the events that benches append. */
export const METADATA = {
  $correlationId: 'bench',
  $causationId: 'bench',
  request_id: 'bench',
  actor: { kind: 'service', id: 'bench' },
  schema_version: 1,
} as const;

/** A value of two sides that were measured in the same rounds. */
export interface Pairs<Sample> {
  /** Median of a value of our side, of the ceiling, and of the ratio of both in one round. */
  of(pick: (sample: Sample) => number): {
    readonly measured: number;
    readonly ceiling: number;
    readonly ratio: number;
  };
}

/**
 * Measures a ceiling and our side in turn, so that other load on the machine affects both. The first rounds prepare
 * statements, compile code and load pages; they do not count.
 */
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
