import type { RecordedEvent } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import { createSemaphore } from '#platform/concurrency/queues.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** A range of the log ends with the event that reaches one of these limits. The next range is read meanwhile. */
const RANGE_EVENTS = 5_000;
const RANGE_BYTES = 4 * 1024 * 1024;
const BUFFERED_ITEMS = 2_000;
/** A pass begins this long after the last reading joined, and not while others prepare theirs. */
const GATHER_MS = 500;
/** Readings that begin further apart do not share a pass: the nearer one would wait for the other. */
const PASS_DISTANCE_BYTES = 64n * 1024n * 1024n;
/** While Postgres writes the rows of one read model, those of another one are computed. */
const WORKS_AT_ONCE = 2;

export type Reading = {
  /** Exclusive; 0 reads from the beginning. */
  readonly after: bigint;
  /** Inclusive; `null` reads to the end of the log. */
  readonly to: bigint | null;
  readonly prefixes: readonly string[];
  readonly signal: AbortSignal;
  /** Receives the events of a range that have one of the prefixes, and the position that the range reaches. */
  readonly apply: (events: readonly RecordedEvent[], position: bigint) => Promise<void>;
};

export type SharedReader = {
  /** Runs work that a reading needs first, such as the opening of its tables. The next pass waits for it. */
  readonly prepare: <T>(work: () => Promise<T>) => Promise<T>;
  /** Joins the readings that start meanwhile and from nearly the same position. Returns the position reached. */
  readonly read: (reading: Reading) => Promise<bigint>;
  /** Reads at once and alone. */
  readonly readAlone: (reading: Reading) => Promise<bigint>;
  /** Waits for one of `WORKS_AT_ONCE` turns, which calls of `apply` take as well. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
};

type Member = Reading & {
  position: bigint;
  isApplying: boolean;
  readonly ended: PromiseWithResolvers<bigint>;
};

type Range = {
  /** Selects once for all members of the same prefixes. */
  readonly eventsOf: (prefixes: readonly string[]) => readonly RecordedEvent[];
  /** Position of the first event. */
  readonly first: bigint;
  readonly position: bigint;
  /** True at the end of the log. */
  readonly isLast: boolean;
};

const rangeOf = (events: readonly RecordedEvent[], position: bigint, isLast: boolean): Range => {
  const selected = new Map<string, readonly RecordedEvent[]>();
  return {
    eventsOf: (prefixes) => {
      const key = prefixes.join();
      const own =
        selected.get(key) ??
        events.filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      selected.set(key, own);
      return own;
    },
    first: events[0]?.position ?? position,
    position,
    isLast,
  };
};

const lowest = (members: readonly Member[]): bigint =>
  members.reduce((low, { after }) => (after < low ? after : low), members[0]?.after ?? 0n);

const passes = (waiting: readonly Member[]): readonly (readonly Member[])[] => {
  const groups: Member[][] = [];
  for (const member of waiting.toSorted((a, b) => (a.after < b.after ? -1 : a.after > b.after ? 1 : 0))) {
    const group = groups.at(-1);
    if (group && member.after - lowest(group) <= PASS_DISTANCE_BYTES) group.push(member);
    else groups.push([member]);
  }
  return groups;
};

/** Reads the log once for all builds and verifications that start together. Members that fail or end leave the pass. */
export const createSharedReader = (
  eventStore: Pick<EventStore, 'follow'>,
  rangeEvents = RANGE_EVENTS,
): SharedReader => {
  const turns = createSemaphore(WORKS_AT_ONCE);
  let waiting: Member[] = [];
  let gathering = new AbortController();
  const preparing = new Set<Promise<unknown>>();

  const inTurn: SharedReader['inTurn'] = async (work) => {
    await turns.acquire();
    try {
      return await work();
    } finally {
      turns.release();
    }
  };

  const applyRange = async (member: Member, range: Range): Promise<boolean> => {
    const { position, isLast } = range;
    const { after, to, signal } = member;
    const upTo = to !== null && position > to ? to : position;
    let own = range.eventsOf(member.prefixes);
    if (range.first <= after || position > upTo)
      own = own.filter((event) => event.position > after && event.position <= upTo);
    await inTurn(async () => {
      signal.throwIfAborted();
      member.isApplying = true;
      try {
        if (upTo > member.position) await member.apply(own, upTo);
      } finally {
        member.isApplying = false;
      }
      signal.throwIfAborted();
    });
    if (upTo > member.position) member.position = upTo;
    return isLast || (to !== null && position >= to);
  };

  const runPass = async (all: readonly Member[]): Promise<void> => {
    const members = new Set(all);
    const after = lowest(all);
    await using follower = eventStore.follow({
      after: after === 0n ? null : after,
      prefixes: [...new Set(all.flatMap(({ prefixes }) => prefixes))],
      bufferItems: BUFFERED_ITEMS,
    });
    const leave = (member: Member): void => {
      members.delete(member);
      if (members.size === 0) void follower[Symbol.asyncDispose]();
    };
    for (const member of all) {
      const abort = (): void => {
        // A cancelled build ends after its last statement, because its tables are dropped then.
        if (member.isApplying) return;
        member.ended.reject(member.signal.reason);
        leave(member);
      };
      if (member.signal.aborted) abort();
      else member.signal.addEventListener('abort', abort, { once: true });
    }
    let position = after;
    const readRange = async (): Promise<Range> => {
      const events: RecordedEvent[] = [];
      for (let bytes = 0; events.length < rangeEvents && bytes < RANGE_BYTES; ) {
        const items = await follower.take(rangeEvents - events.length, RANGE_BYTES - bytes);
        // The follower is closed when no member is left.
        if (items.length === 0) return rangeOf(events, position, true);
        for (const item of items) {
          if (item.kind === 'caught_up') return rangeOf(events, position, true);
          if (item.kind === 'event') {
            events.push(item.event);
            bytes += item.bytes;
          }
          position = item.kind === 'event' ? item.event.position : item.position;
        }
      }
      return rangeOf(events, position, false);
    };
    for (let next = readRange(); members.size > 0; ) {
      const range = await next;
      next = range.isLast ? Promise.resolve(range) : readRange();
      // Handled when it is awaited, or without effect when no member is left.
      next.catch(() => undefined);
      await Promise.all(
        [...members].map(async (member) => {
          try {
            if (!(await applyRange(member, range))) return;
            member.ended.resolve(member.position);
          } catch (error) {
            member.ended.reject(error);
          }
          leave(member);
        }),
      );
    }
  };

  const begin = (members: readonly Member[]): void => {
    runPass(members).catch((error: unknown) => {
      for (const { ended } of members) ended.reject(error);
    });
  };

  const memberFor = (reading: Reading): Member => ({
    ...reading,
    position: reading.after,
    isApplying: false,
    ended: Promise.withResolvers<bigint>(),
  });

  return {
    prepare: async (work) => {
      const prepared = work();
      preparing.add(prepared);
      try {
        return await prepared;
      } finally {
        preparing.delete(prepared);
      }
    },
    inTurn,
    readAlone: (reading) => {
      const member = memberFor(reading);
      begin([member]);
      return member.ended.promise;
    },
    read: (reading) => {
      const member = memberFor(reading);
      waiting.push(member);
      gathering.abort();
      gathering = new AbortController();
      const { signal } = gathering;
      const beginGathered = async (): Promise<void> => {
        do {
          await pause(GATHER_MS, signal);
          if (signal.aborted) return;
        } while (preparing.size > 0);
        const gathered = waiting;
        waiting = [];
        for (const group of passes(gathered)) begin(group);
      };
      void beginGathered();
      return member.ended.promise;
    },
  };
};
