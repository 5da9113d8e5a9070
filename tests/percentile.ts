import { median } from 'es-toolkit/math/median';

/** Returns the value that this share of the others does not exceed: 0.99 for the p99. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, next) => one - next)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

/**
 * Returns the median of the percentiles of all rounds, so that one in which the machine was slow for another reason does
 * not count.
 */
export const percentileOfRounds = (rounds: readonly (readonly number[])[], share: number): number =>
  median(rounds.map((values) => percentile(values, share)));
