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

const tellWrite = ({ operation, outcome }: Write): string =>
  `${Object.values(operation).join(' ')}: ${Object.values(outcome).join(' ')}`;
const tellRead = ({ shown }: Read): string =>
  `read: ${[...shown].map(([brand, { cadence, created_at }]) => `${brand} ${cadence} ${created_at}`).join(', ')}`;

/** Returns a line for each call, in the order of their ends. */
export const tellCalls = (calls: readonly (Write | Read)[]): string => {
  const sinceMs = Math.min(...calls.map(({ sentMs }) => sentMs));
  return calls
    .toSorted((a, b) => a.endedMs - b.endedMs)
    .map((call) => {
      const { caller, sentMs, endedMs } = call;
      const what = 'operation' in call ? tellWrite(call) : tellRead(call);
      return `${second(sentMs, sinceMs)} to ${second(endedMs, sinceMs)}: caller ${caller} ${what}`;
    })
    .join('\n');
};

/** A request to an API process. A call that was repeated has several. */
export type Attempt = {
  /** Place of the API process. */
  readonly api: number;
  readonly sentMs: number;
  readonly endedMs: number;
};

/** A fault that was played between an API process and a server, or on the process. */
export type PlayedFault = {
  readonly api: number;
  readonly what: string;
  readonly beganMs: number;
  readonly endedMs: number;
};

/** Returns the faults during which no request was under way at their API process. They tested nothing. */
export const unmetFaults = (
  faults: readonly PlayedFault[],
  attempts: readonly Attempt[],
): readonly PlayedFault[] =>
  faults.filter(
    ({ api, beganMs, endedMs: overMs }) =>
      !attempts.some(
        ({ api: asked, sentMs, endedMs }) => asked === api && sentMs <= overMs && endedMs >= beganMs,
      ),
  );
