import { hash } from 'node:crypto';
import { categoryOf } from '#contracts/events/event.ts';
import type { RawEvent } from '#platform/event-store/copy/raw-log.ts';
import { nameOf, portableHash } from './portable-event.ts';

/** Compares two logs event by event, in the order of the log. */

/** Maximum streams whose differences are kept in memory. */
const DIFFERING_MAX = 100_000;
/** Maximum differing streams that a comparison names. */
export const NAMED_STREAMS = 20;

/** Number of events, and SHA-256 over the hashes of the events in order. */
export type Sum = { readonly events: number; readonly hash: string };

export type LogSum = Sum & {
  readonly byCategory: ReadonlyMap<string, Sum>;
  /** `null` unless requested, because it needs memory for each stream. */
  readonly byStream: ReadonlyMap<string, Sum> | null;
};

/** Events of a stream that only one of the logs has, or that are not the same; counted from the first difference on. */
export type DifferingStream = {
  readonly stream: string;
  readonly events: number;
  readonly eventsInTarget: number;
};

export type Comparison = {
  readonly isEqual: boolean;
  readonly from: LogSum;
  readonly to: LogSum;
  /** The first difference, in words; `null` when the logs are equal. */
  readonly difference: string | null;
  /** The first streams that differ, in the order in which the differences were found. */
  readonly differing: readonly DifferingStream[];
};

const EMPTY: Sum = { events: 0, hash: '' };

const extend = (sum: Sum, eventHash: string): Sum => ({
  events: sum.events + 1,
  hash: hash('sha256', `${sum.hash}\n${eventHash}`, 'hex'),
});

const createSum = (isByStream: boolean) => {
  let all = EMPTY;
  const byCategory = new Map<string, Sum>();
  const byStream = isByStream ? new Map<string, Sum>() : null;
  const add = (sums: Map<string, Sum>, key: string, eventHash: string): void =>
    void sums.set(key, extend(sums.get(key) ?? EMPTY, eventHash));
  return {
    add: (stream: string, eventHash: string): void => {
      all = extend(all, eventHash);
      add(byCategory, categoryOf(stream), eventHash);
      if (byStream) add(byStream, stream, eventHash);
    },
    sum: (): LogSum => ({ ...all, byCategory, byStream }),
  };
};

/** Sums per stream from the first difference on. Streams whose sums are equal again are forgotten. */
const createDifferences = () => {
  const streams = new Map<string, [Sum, Sum]>();
  return {
    isFull: (): boolean => streams.size >= DIFFERING_MAX,
    add: (side: 0 | 1, stream: string, eventHash: string): void => {
      const sums = streams.get(stream) ?? ([EMPTY, EMPTY] as [Sum, Sum]);
      sums[side] = extend(sums[side], eventHash);
      if (sums[0].hash === sums[1].hash) streams.delete(stream);
      else streams.set(stream, sums);
    },
    first: (): readonly DifferingStream[] =>
      [...streams].slice(0, NAMED_STREAMS).map(([stream, [one, other]]) => ({
        stream,
        events: one.events,
        eventsInTarget: other.events,
      })),
  };
};

const describeDifference = (
  count: number,
  one: RawEvent | undefined,
  other: RawEvent | undefined,
): string => {
  const place = (event: RawEvent | undefined): string => (event ? nameOf(event) : 'the end of the log');
  return `event ${count}: ${place(one)} in the first log, ${place(other)} in the second`;
};

export type CompareOptions = {
  /** Also returns the sums of each stream. */
  readonly isByStream?: boolean;
  readonly onCompared?: (events: number) => void;
  /** Ends the comparison with an error. */
  readonly signal?: AbortSignal;
};

/**
 * Reads both logs to their present ends. Needs memory for the categories, and for the streams that differ: a comparison
 * of logs that have little in common ends after 100,000 of these, with the sums so far.
 */
export const compareLogs = async (
  from: AsyncGenerator<RawEvent>,
  to: AsyncGenerator<RawEvent>,
  { isByStream = false, onCompared, signal }: CompareOptions = {},
): Promise<Comparison> => {
  const sums = [createSum(isByStream), createSum(isByStream)] as const;
  const differences = createDifferences();
  let difference: string | null = null;
  let count = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const [one, other] = await Promise.all([from.next(), to.next()]);
      if ((one.done && other.done) || differences.isFull()) break;
      count += 1;
      const pair = [one.value, other.value].map((event) =>
        event ? { event, hash: portableHash(event) } : null,
      );
      if (difference === null && pair[0]?.hash !== pair[1]?.hash) {
        difference = describeDifference(count, pair[0]?.event, pair[1]?.event);
      }
      for (const side of [0, 1] as const) {
        const found = pair[side];
        if (!found) continue;
        sums[side].add(found.event.stream, found.hash);
        if (difference !== null) differences.add(side, found.event.stream, found.hash);
      }
      onCompared?.(count);
    }
  } finally {
    await Promise.all([from.return(undefined), to.return(undefined)]);
  }
  return {
    isEqual: difference === null,
    from: sums[0].sum(),
    to: sums[1].sum(),
    difference,
    differing: differences.first(),
  };
};
