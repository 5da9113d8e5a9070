import type { Cadence } from '#contracts/values/primitives.ts';

/** Record of what the callers of a trial asked and were answered. Times are milliseconds of the machine's clock. */

/** A brand as a reply shows it. */
export type ShownBrand = { readonly cadence: Cadence; readonly created_at: string };

export type WriteOperation =
  | { readonly kind: 'track'; readonly brand: string; readonly cadence: Cadence }
  | { readonly kind: 'untrack'; readonly brand: string };

/** `unknown`: the caller was never told whether it was done. `refused`: all slots of the plan were used. */
export type WriteOutcome =
  | { readonly kind: 'tracked'; readonly createdAt: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'untracked'; readonly removed: boolean }
  | { readonly kind: 'unknown' };

type Call = {
  readonly caller: number;
  readonly sentMs: number;
  /** `Infinity` for an unknown outcome: the write may be done at any later time. */
  readonly endedMs: number;
};

export type Write = Call & {
  readonly operation: WriteOperation;
  readonly outcome: WriteOutcome;
  /** Log position that the reply names; `null` when it names none. */
  readonly position: bigint | null;
};
export type Read = Call & { readonly shown: ReadonlyMap<string, ShownBrand> };

export type History = {
  /** Writes of all callers. Those of one caller follow each other. */
  readonly writes: readonly Write[];
  /** Reads of all callers, each in the order in which its caller sent them. */
  readonly reads: readonly Read[];
};

const second = (ms: number, sinceMs: number): string =>
  Number.isFinite(ms) ? ((ms - sinceMs) / 1_000).toFixed(3) : '…';

/** Returns a line for each write, in the order of their ends. */
export const tellWrites = (writes: readonly Write[]): string => {
  const sinceMs = Math.min(...writes.map(({ sentMs }) => sentMs));
  return writes
    .toSorted((a, b) => a.endedMs - b.endedMs)
    .map(({ caller, sentMs, endedMs, operation, outcome }) => {
      const asked = Object.values(operation).join(' ');
      const told = Object.values(outcome).join(' ');
      return `${second(sentMs, sinceMs)} to ${second(endedMs, sinceMs)}: caller ${caller} ${asked}: ${told}`;
    })
    .join('\n');
};
