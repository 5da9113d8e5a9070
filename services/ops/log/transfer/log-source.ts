import { isEqual } from 'es-toolkit/predicate/isEqual';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { checkLogFile, readLogFile } from '../file/read-log-file.ts';
import { portableHash } from './portable-event.ts';
import { diverged, TAIL_EVENTS, type TailEvent } from './target-tail.ts';

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
