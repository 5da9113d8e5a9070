import { hash } from 'node:crypto';
import { categoryOf } from '#contracts/events/event.ts';
import type { RawEvent } from '#platform/event-store/copy/raw-log.ts';
import { nameOf, portableHash } from './portable-event.ts';

const DIFFERING_MAX = 100_000;
export const NAMED_STREAMS = 20;

export type Sum = { readonly events: number; readonly hash: string };

export type LogSum = Sum & {
  readonly byCategory: ReadonlyMap<string, Sum>;
  /** `null` unless requested, because it needs memory per stream. */
  readonly byStream: ReadonlyMap<string, Sum> | null;
};

/** Events of a stream that differ, counted from the first difference on. */
export type DifferingStream = {
  readonly stream: string;
  readonly events: number;
  readonly eventsInTarget: number;
};

export type Comparison = {
  readonly isEqual: boolean;
  readonly from: LogSum;
  readonly to: LogSum;
  /** `null` when the logs are equal. */
  readonly difference: string | null;
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
  readonly isByStream?: boolean;
  readonly onCompared?: (events: number) => void;
  readonly signal?: AbortSignal;
};

/** Compares two logs to their current ends. Stops early after `DIFFERING_MAX` streams, to bound memory. */
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
