import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { portableHash } from './portable-event.ts';
import { diverged, TAIL_EVENTS, type TailEvent } from './target-tail.ts';

export type LogSource = {
  /** Yields the events that the target lacks. `tail` is newest first. Throws `Refusal` when the target diverges. */
  after(tail: readonly TailEvent[]): AsyncGenerator<RawEvent>;
  shareDone(event: RawEvent): number | null;
};

/** An event of the tail in the source. `index`: its place in the tail. */
type Located = { readonly index: number; readonly position: bigint };

/** Tries the original position, then the stream, for the newest events of the tail. */
const locateQuickly = async (log: RawLog, tail: readonly TailEvent[]): Promise<Located | null> => {
  for (const [index, { hash, firstPosition, stream, revision }] of tail.entries()) {
    // A server may refuse a position at which no event stands, and does not show events of deleted streams.
    for (const look of [() => log.at(firstPosition), () => log.find(stream, revision)]) {
      const event = await look().catch(() => null);
      if (event && portableHash(event) === hash) return { index, position: event.position };
    }
    // If these are missing, older events are seldom found.
    if (index === 8) return null;
  }
  return null;
};

const locateSlowly = async (log: RawLog, newest: TailEvent): Promise<Located | null> => {
  for await (const event of log.backwards(null)) {
    const { stream, revision, position } = event;
    if (stream !== newest.stream || revision !== newest.revision) continue;
    return portableHash(event) === newest.hash ? { index: 0, position } : null;
  }
  return null;
};

const firstEvent = async (log: RawLog): Promise<RawEvent | null> => {
  for await (const event of log.forwards(null)) return event;
  return null;
};

/** Returns the source position of the target's newest event; `null` for an empty target. */
const findEnd = async (log: RawLog, target: RawLog, tail: readonly TailEvent[]): Promise<bigint | null> => {
  const [newest] = tail;
  if (!newest) return null;
  const firsts = await Promise.all([firstEvent(log), firstEvent(target)]);
  const [ours, theirs] = firsts.map((event) => event && portableHash(event));
  if (ours !== theirs) throw diverged(firsts[1] ?? newest);
  const located = (await locateQuickly(log, tail)) ?? (await locateSlowly(log, newest));
  if (!located) throw diverged(newest);
  await checkOlder(log, tail, located);
  return await checkNewer(log, tail, located);
};

/** The source must hold the events before the located one in the same order. */
const checkOlder = async (log: RawLog, tail: readonly TailEvent[], { index, position }: Located) => {
  const before = log.backwards(position);
  try {
    for (const expected of tail.slice(index + 1)) {
      const next = await before.next();
      if (next.done || portableHash(next.value) !== expected.hash) throw diverged(expected);
    }
    // A tail below its maximum length is the whole target, so the source must begin with the same event.
    const oldest = tail.at(-1);
    if (oldest && tail.length < TAIL_EVENTS && !(await before.next()).done) throw diverged(oldest);
  } finally {
    await before.return(undefined);
  }
};

const checkNewer = async (log: RawLog, tail: readonly TailEvent[], { index, position }: Located) => {
  let reached = position;
  const after = log.forwards(position);
  try {
    for (const expected of tail.slice(0, index).toReversed()) {
      const next = await after.next();
      if (next.done || portableHash(next.value) !== expected.hash) throw diverged(expected);
      reached = next.value.position;
    }
  } finally {
    await after.return(undefined);
  }
  return reached;
};

const shareOf = (position: bigint, first: bigint, last: bigint): number | null =>
  last <= first ? null : Math.min(1, Number(position - first) / Number(last - first));

export const serverSource = (log: RawLog, target: RawLog): LogSource => {
  let range: { readonly first: bigint; readonly last: bigint } | null = null;
  return {
    after: async function* (tail) {
      const after = await findEnd(log, target, tail);
      for await (const { position } of log.backwards(null)) {
        range = { first: range?.first ?? after ?? 0n, last: position };
        break;
      }
      yield* log.forwards(after);
    },
    shareDone: ({ position }) => range && shareOf(position, range.first, range.last),
  };
};
