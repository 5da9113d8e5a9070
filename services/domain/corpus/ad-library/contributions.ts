import type { Contribution } from './replay.ts';
import { NO_COUNTS } from './state.ts';

export const NONE: Contribution = { active: 0, missing: 0, total: 0, ...NO_COUNTS };

export const combine = (a: Contribution, b: Contribution, sign: 1 | -1): Contribution =>
  Object.fromEntries(
    Object.entries(a).map(([name, count]) => [name, count + sign * b[name as keyof Contribution]]),
  ) as Contribution;

export const addContributions = (
  sums: Map<string, Contribution>,
  more: ReadonlyMap<string, Contribution>,
): void => {
  for (const [scanId, contribution] of more) {
    sums.set(scanId, combine(sums.get(scanId) ?? NONE, contribution, 1));
  }
};
/** Positive counts came to the brand, negative ones left it. As in totals of scans, `active` includes missing ads. */
export type BrandMoves = {
  readonly observed_at: string;
  readonly active: number;
  readonly missing: number;
  readonly total: number;
};

export const movedBetween = (
  moves: readonly BrandMoves[],
  after: string,
  until: string,
): Omit<BrandMoves, 'observed_at'> => {
  const sums = { active: 0, missing: 0, total: 0 };
  for (const { observed_at, active, missing, total } of moves) {
    if (observed_at <= after || observed_at > until) continue;
    sums.active += active;
    sums.missing += missing;
    sums.total += total;
  }
  return sums;
};

/** Totals of the scan before plus the moves between the two. */
export const totalsAfter = (
  previous: { readonly totals: Contribution; readonly contribution: Contribution },
  contribution: Contribution,
  moved: Omit<BrandMoves, 'observed_at'>,
): Contribution => {
  const change = combine(contribution, previous.contribution, -1);
  const { active, missing, total } = combine(previous.totals, combine(change, { ...NONE, ...moved }, 1), 1);
  return { ...contribution, active, missing, total };
};
