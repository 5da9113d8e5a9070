import { Refusal } from '#contracts/errors.ts';
import { pause } from '#platform/clock.ts';
import { type EncodedEvent, countedBytes, sizeOf } from '#platform/event-store/append/append-message.ts';
import type { LogWriter, RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { isConnectionFault } from '#platform/event-store/errors.ts';
import type { LogSource } from './log-source.ts';
import { markedCopy, nameOf } from './portable-event.ts';
import { readTail } from './target-tail.ts';

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
