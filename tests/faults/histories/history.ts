/** Record of what the callers of a trial asked and were answered. Times are milliseconds of the machine's clock. */

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
  /** Log position that the reply names; `null` when it names none. */
  readonly position: bigint | null;
};

/** Shown records by id, each as JSON text. */
export type Shown = ReadonlyMap<string, string>;

export type Read = Call & {
  readonly shown: Shown;
  /** False for one record, as the reply to a write shows it. */
  readonly isWhole: boolean;
};

export type History = {
  /** Writes of all callers. Those of one caller follow each other. */
  readonly writes: readonly Write[];
  /** Reads of all callers, each in the order in which its caller sent them. */
  readonly reads: readonly Read[];
};

/** Returns the write as if its reply had been lost. */
export const unanswered = <Operation extends Named, Outcome extends Named>(
  write: Write<Operation, Outcome>,
): Write<Operation, Outcome> => ({ ...write, endedMs: Number.POSITIVE_INFINITY, outcome: UNKNOWN });

const second = (ms: number, sinceMs: number): string =>
  Number.isFinite(ms) ? ((ms - sinceMs) / 1_000).toFixed(3) : '…';

const tellWrite = ({ operation, outcome }: Write): string =>
  `${Object.values(operation).join(' ')}: ${Object.values(outcome).join(' ')}`;

/** Returns the shown records on one line. */
export const tellShown = (shown: Shown): string => [...shown].map((entry) => entry.join(' ')).join(', ');

/** Returns a line for each call, in the order of their ends. */
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
