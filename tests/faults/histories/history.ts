/** Record of calls and answers. Times are milliseconds of the machine's clock. */

type Named = { readonly kind: string };

/** The caller was never told whether the write was done. */
export type Unknown = { readonly kind: 'unknown' };
export const UNKNOWN: Unknown = { kind: 'unknown' };

export type Call = {
  readonly caller: number;
  readonly sentMs: number;
  /** `Infinity` for an unknown outcome: the write may be done at any later time. */
  readonly endedMs: number;
};

export type Write<Operation extends Named = Named, Outcome extends Named = Named> = Call & {
  readonly operation: Operation;
  readonly outcome: Outcome | Unknown;
  /** Log position of the reply; `null` when it names none. */
  readonly position: bigint | null;
};

/** Records as JSON text, by id. */
export type Shown = ReadonlyMap<string, string>;

export type Read = Call & {
  readonly shown: Shown;
  /** False for one record in the reply to a write. */
  readonly isWhole: boolean;
};

export type History = {
  /** Writes of one caller follow each other. */
  readonly writes: readonly Write[];
  /** Reads of all callers, each caller's in the order of sending. */
  readonly reads: readonly Read[];
};

export const unanswered = <Operation extends Named, Outcome extends Named>(
  write: Write<Operation, Outcome>,
): Write<Operation, Outcome> => ({ ...write, endedMs: Number.POSITIVE_INFINITY, outcome: UNKNOWN });

const second = (ms: number, sinceMs: number): string =>
  Number.isFinite(ms) ? ((ms - sinceMs) / 1_000).toFixed(3) : '…';

const tellWrite = ({ operation, outcome }: Write): string =>
  `${Object.values(operation).join(' ')}: ${Object.values(outcome).join(' ')}`;

export const tellShown = (shown: Shown): string => [...shown].map((entry) => entry.join(' ')).join(', ');

/** Lines of calls in the order of their ends. */
export const tellCalls = (calls: readonly (Write | Read)[]): string => {
  const sinceMs = Math.min(...calls.map(({ sentMs }) => sentMs));
  return calls
    .toSorted((a, b) => a.endedMs - b.endedMs)
    .map((call) => {
      const { caller, sentMs, endedMs } = call;
      const what = 'operation' in call ? tellWrite(call) : `read: ${tellShown(call.shown)}`;
      return `${second(sentMs, sinceMs)} to ${second(endedMs, sinceMs)}: caller ${caller} ${what}`;
    })
    .join('\n');
};

/** Request to a process; a repeated call has several. */
export type Attempt = {
  readonly api: number;
  readonly sentMs: number;
  readonly endedMs: number;
};

export type PlayedFault = {
  readonly api: number;
  readonly what: string;
  readonly beganMs: number;
  readonly endedMs: number;
};

/** Faults during which no request was under way at their API: they tested nothing. */
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
