import { hash as digest } from 'node:crypto';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { categoryOf } from '#contracts/events/event.ts';
import type { LogWriter, RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { Refusal } from '#contracts/errors.ts';
import { pause } from '#platform/clock.ts';
import { type EncodedEvent, countedBytes, sizeOf } from '#platform/event-store/append-stream.ts';
import { isConnectionFault } from '#platform/event-store/errors.ts';
import { portable } from '#platform/event-store/copy/first-recorded.ts';
import { checkLogFile, markedCopy, nameOf, portableHash, readLogFile } from './file.ts';

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
  hash: digest('sha256', `${sum.hash}\n${eventHash}`, 'hex'),
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

/** Length of the target's tail. It exceeds the unconfirmed events of a copy, so it shows where the copy stopped. */
export const TAIL_EVENTS = 4_096;

export type TailEvent = Pick<RawEvent, 'stream' | 'revision' | 'type'> & {
  readonly hash: string;
  /** Original position; the target's position for an event without a mark. */
  readonly firstPosition: bigint;
};

export const toTailEvent = (event: RawEvent): TailEvent => ({
  stream: event.stream,
  revision: event.revision,
  type: event.type,
  hash: portableHash(event),
  firstPosition: portable(event).position,
});

export const readTail = async (target: RawLog): Promise<readonly TailEvent[]> => {
  const newest: TailEvent[] = [];
  for await (const event of target.backwards(null)) {
    newest.push(toTailEvent(event));
    if (newest.length === TAIL_EVENTS) break;
  }
  return newest;
};

export const diverged = (event: Pick<RawEvent, 'stream' | 'revision' | 'type'>): Refusal =>
  new Refusal(
    'invalid_input',
    `The target is no copy of this log: its event ${nameOf(event)} is not there, or stands elsewhere. Nothing was ` +
      'written. Name an empty event store, or the target of an earlier copy of this log.',
  );

/** A log to copy from: a server or a file. */
export type LogSource = {
  /** Yields the events that the target lacks. `tail` is newest first. Throws `Refusal` when the target diverges. */
  after(tail: readonly TailEvent[]): AsyncGenerator<RawEvent>;
  /** From 0 to 1; `null` when unknown. */
  shareDone(event: RawEvent): number | null;
};

/**
 * Skips to the end of the tail, whose events must stand in a row. `isFromStart`: the events begin with those of the log,
 * so a tail below its maximum length, which is the whole target, must begin with them.
 */
async function* eventsBehind(
  tail: readonly TailEvent[],
  events: AsyncIterable<RawEvent>,
  isFromStart: boolean,
): AsyncGenerator<RawEvent> {
  const [newest] = tail;
  const wanted = tail.map(({ hash }) => hash).toReversed();
  let seen: string[] = [];
  let count = 0;
  let isFound = newest === undefined;
  for await (const event of events) {
    if (newest === undefined || isFound) {
      yield event;
      continue;
    }
    const hash = portableHash(event);
    count += 1;
    seen.push(hash);
    if (seen.length >= 2 * TAIL_EVENTS) seen = seen.slice(-TAIL_EVENTS);
    if (hash !== newest.hash) continue;
    const isWhole = isFromStart && tail.length < TAIL_EVENTS;
    if ((isWhole && count !== tail.length) || !isEqual(seen.slice(-wanted.length), wanted))
      throw diverged(newest);
    isFound = true;
  }
  if (!isFound && newest) throw diverged(newest);
}

/** Checks the file to its end before the first event is copied. */
export const fileSource = (file: string, onChecked?: (events: number) => void): LogSource => {
  let total: number | null = null;
  let done = 0;
  const counted = async function* (): AsyncGenerator<RawEvent> {
    done = 0;
    for await (const event of readLogFile(file)) {
      done += 1;
      yield event;
    }
  };
  return {
    after: async function* (tail) {
      total ??= await checkLogFile(file, onChecked);
      yield* eventsBehind(tail, counted(), true);
    },
    shareDone: () => (total === null || total === 0 ? null : Math.min(1, done / total)),
  };
};

/** Beyond these, lookups of the oldest events of a tail seldom succeed. */
const LOOKUPS_MAX = 9;

/** Looks up the oldest events of a full tail, so that a repeated copy does not read the log from its beginning. */
const findStart = async (
  log: RawLog,
  tail: readonly TailEvent[],
): Promise<{ readonly event: RawEvent; readonly tail: readonly TailEvent[] } | null> => {
  if (tail.length < TAIL_EVENTS) return null;
  const oldest = tail.slice(-LOOKUPS_MAX).toReversed();
  for (const [index, { hash, firstPosition, stream, revision }] of oldest.entries()) {
    // A server may refuse a position at which no event stands, and does not show events of deleted streams.
    for (const look of [() => log.at(firstPosition), () => log.find(stream, revision)]) {
      const event = await look().catch(() => null);
      if (event && portableHash(event) === hash) return { event, tail: tail.slice(0, tail.length - index) };
    }
  }
  return null;
};

/** Share of the log that is before a position, of the log as it is now. */
export const shareOfLog = async (log: RawLog): Promise<(position: bigint) => number | null> => {
  for await (const { position: end } of log.backwards(null)) {
    return (position) => (end === 0n ? null : Math.min(1, Number(position) / Number(end)));
  }
  return () => null;
};

export const serverSource = (log: RawLog): LogSource => {
  let share: ((position: bigint) => number | null) | null = null;
  return {
    after: async function* (tail) {
      share = await shareOfLog(log);
      const start = await findStart(log, tail);
      if (start === null) return yield* eventsBehind(tail, log.forwards(null), true);
      const fromStart = async function* (): AsyncGenerator<RawEvent> {
        yield start.event;
        yield* log.forwards(start.event.position);
      };
      yield* eventsBehind(start.tail, fromStart(), false);
    },
    shareDone: ({ position }) => share?.(position) ?? null,
  };
};

/** Limits of appends. All unconfirmed appends together hold fewer events than the target's tail. */
const APPEND_MAX_EVENTS = 256;
const APPEND_MAX_BYTES = 800_000;
const IN_FLIGHT_MAX_EVENTS = 2_048;
const IN_FLIGHT_MAX_APPENDS = 64;
const IN_FLIGHT_MAX_BYTES = 16 * 1024 * 1024;
/** Consecutive connection faults without a copied event after which a copy stops. */
const FAULTS_MAX = 12;
const FAULT_PAUSE_MS = 500;

export type CopyProgress = {
  readonly copied: number;
  /** From 0 to 1; `null` when unknown. */
  readonly share: number | null;
};

type Batch = {
  readonly events: readonly RawEvent[];
  readonly copies: readonly EncodedEvent[];
  readonly bytes: number;
  readonly countedBytes: number;
};

const batchOf = (events: readonly RawEvent[], copies: readonly EncodedEvent[], bytes: number): Batch => ({
  events,
  copies,
  bytes,
  countedBytes: copies.reduce((sum, copy) => sum + countedBytes(copy), 0),
});

const isNext = (last: RawEvent | undefined, next: RawEvent): boolean =>
  last !== undefined && last.stream === next.stream && last.revision + 1n === next.revision;

/** Joins events that are neighbours in the log and in their stream, so that each append keeps the order of the log. */
async function* batchesOf(events: AsyncIterable<RawEvent>): AsyncGenerator<Batch> {
  let batch: RawEvent[] = [];
  let copies: EncodedEvent[] = [];
  let bytes = 0;
  for await (const event of events) {
    const copy = markedCopy(event);
    const size = sizeOf(copy);
    const fits = batch.length < APPEND_MAX_EVENTS && bytes + size <= APPEND_MAX_BYTES;
    if (batch.length > 0 && !(fits && isNext(batch.at(-1), event))) {
      yield batchOf(batch, copies, bytes);
      batch = [];
      copies = [];
      bytes = 0;
    }
    batch.push(event);
    copies.push(copy);
    bytes += size;
  }
  if (batch.length > 0) yield batchOf(batch, copies, bytes);
}

/** Describes why the target rejected an event. Retryable errors stay unchanged. */
const describeFailure = (error: unknown, event: RawEvent): Error => {
  const { type } = error as { type?: unknown };
  if (type === 'maximum-append-size-exceeded') {
    return new Refusal(
      'invalid_input',
      `${nameOf(event)} has ${countedBytes(markedCopy(event))} bytes, more than the target takes in one append. Raise ` +
        'MaxAppendSize of the target (EVENTSTORE_MAX_APPEND_SIZE), restart it and repeat the command: it continues from here.',
    );
  }
  if (type === 'wrong-expected-version' || type === 'stream-deleted') {
    return new Refusal(
      'invalid_input',
      `The target did not take ${nameOf(event)}: its stream does not end right before this event. Either something ` +
        'else writes to the target, or a scavenge removed older events of this stream from the log that is copied. ' +
        'Copy into an empty event store to which nothing else writes, from a log that was not scavenged.',
    );
  }
  return error as Error;
};

/** Sends appends concurrently. An append larger than any accepted one goes alone: its rejection would leave a gap. */
const createSender = (writer: LogWriter, onCopied: (events: readonly RawEvent[]) => void) => {
  const open = new Set<Promise<void>>();
  let events = 0;
  let bytes = 0;
  let takenBytes = 0;
  let isAlone = false;
  const state: { failure?: Error } = {};
  const isFullFor = (batch: Batch): boolean =>
    open.size > 0 &&
    (isAlone ||
      batch.countedBytes > takenBytes ||
      open.size >= IN_FLIGHT_MAX_APPENDS ||
      events + batch.events.length > IN_FLIGHT_MAX_EVENTS ||
      bytes + batch.bytes > IN_FLIGHT_MAX_BYTES);
  const noteTaken = (batch: Batch): void => {
    takenBytes = Math.max(takenBytes, batch.countedBytes);
    onCopied(batch.events);
  };
  const sendNow = (batch: Batch, first: RawEvent): void => {
    events += batch.events.length;
    bytes += batch.bytes;
    isAlone = batch.countedBytes > takenBytes;
    const sending = writer.append(first.stream, first.revision, batch.copies).then(
      () => noteTaken(batch),
      (error: unknown) => {
        state.failure ??= describeFailure(error, first);
      },
    );
    const done = sending.finally(() => {
      events -= batch.events.length;
      bytes -= batch.bytes;
      isAlone = false;
      open.delete(done);
    });
    open.add(done);
  };
  return {
    send: async (batch: Batch): Promise<boolean> => {
      while (!state.failure && isFullFor(batch)) await Promise.race(open);
      const [first] = batch.events;
      if (state.failure || !first) return false;
      sendNow(batch, first);
      return true;
    },
    finish: async (): Promise<void> => {
      await Promise.all(open);
      if (state.failure) throw state.failure;
    },
  };
};

const refuseTombstone = (event: RawEvent): void => {
  if (event.type !== '$streamDeleted') return;
  throw new Refusal(
    'invalid_input',
    `The stream ${event.stream} was deleted for good (tombstone), which a copy cannot keep. This service deletes no ` +
      'streams: find out who did.',
  );
};

const copyOnce = async (
  source: LogSource,
  target: RawLog,
  onCopied: (events: readonly RawEvent[]) => void,
  signal: AbortSignal,
): Promise<void> => {
  await using writer = target.openWriter();
  const sender = createSender(writer, onCopied);
  try {
    for await (const batch of batchesOf(source.after(await readTail(target)))) {
      for (const event of batch.events) refuseTombstone(event);
      if (signal.aborted || !(await sender.send(batch))) break;
    }
  } catch (error) {
    // Throws a failed append first, because it is the older failure.
    await sender.finish();
    throw error;
  }
  await sender.finish();
};

/** Copies the events that the target lacks, and returns how many; resumable. Throws `Refusal` when the logs diverge. */
export const copyLog = async (
  source: LogSource,
  target: RawLog,
  onProgress: (progress: CopyProgress) => void,
  signal: AbortSignal,
): Promise<number> => {
  let copied = 0;
  let faults = 0;
  const onCopied = (events: readonly RawEvent[]): void => {
    copied += events.length;
    faults = 0;
    const newest = events.at(-1);
    onProgress({ copied, share: newest ? source.shareDone(newest) : null });
  };
  for (;;) {
    try {
      await copyOnce(source, target, onCopied, signal);
      return copied;
    } catch (error) {
      faults += 1;
      if (!isConnectionFault(error) || faults >= FAULTS_MAX || signal.aborted) throw error;
      await pause(FAULT_PAUSE_MS * faults, signal);
    }
  }
};
