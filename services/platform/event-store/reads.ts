import {
  END,
  type EventStoreDBClient,
  type Position,
  START,
  StreamDeletedError,
  StreamNotFoundError,
} from '@eventstore/db-client';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { TimeUsedUp, hasTime, hasTimeBudget, requireTime, timeLeft } from '../concurrency/time-budget.ts';
import { createPlaces } from '../concurrency/queues.ts';
import { type AnswerTime, createAnswerTime, type Breaker } from './answer-time.ts';
import {
  EventStoreBusy,
  EventStoreSilent,
  ReadCutOff,
  isConnectionFault,
  toClearError,
  withTimeout,
} from './errors.ts';
import { toRecordedEvent } from './catch-up-subscription.ts';
import { leaderReadsOf } from './node-connection.ts';
import { openRenewableClient } from './renewable-client.ts';

/** Servers allow 100 calls on a connection; further ones would wait unseen. */
export const READS_MAX = 64;
/** Further reads are refused at once. */
export const READS_WAITING_MAX = 1_000;
/** For background work. */
const PATIENT_WAIT_MS = 60_000;

/** `head` reads these numbers of events until it finds one of our own. */
const HEAD_PAGES = [1, 32, 256, 1_024];
const HEAD_PAGE_MAX = 4_096;
const LOOK_ANSWER_MS = 10_000;
/** A filtered subscription gets a checkpoint after fewer events. */
const LOOK_EVENTS = 1_100;

const READ_SILENCE_MS = 60_000;

const isOwn = (stream: string): boolean => !stream.startsWith('$');

export type Reads = AsyncDisposable & {
  readonly read: <E extends Event>(
    stream: string,
    after?: bigint,
    count?: number,
  ) => AsyncGenerator<RecordedEvent<E>>;
  readonly last: <E extends Event>(stream: string) => Promise<RecordedEvent<E> | null>;
  readonly newest: <E extends Event>(stream: string, count: number) => Promise<readonly RecordedEvent<E>[]>;
  readonly head: () => Promise<bigint>;
  readonly idAt: (position: bigint) => Promise<string | null>;
  readonly isOwed: (position: bigint | null, prefixes: readonly string[]) => Promise<boolean>;
};

type Ending<T> = AsyncIterable<T> & { cancel(): Promise<void> };

/** Throws `EventStoreSilent` when no event arrives in `silenceMs`. One timer serves the whole read. */
const inPatience = async function* <T>(events: Ending<T>, silenceMs: number): AsyncGenerator<T> {
  let isWaiting = true;
  let isSilent = false;
  const timer = setTimeout(() => {
    if (!isWaiting) return void timer.refresh();
    isSilent = true;
    // The package takes this for the caller's wish and ends the read without an error.
    void events.cancel().catch(() => undefined);
  }, silenceMs);
  try {
    for await (const event of events) {
      isWaiting = false;
      yield event;
      isWaiting = true;
      timer.refresh();
    }
  } catch (error) {
    throw isSilent ? new EventStoreSilent(silenceMs) : error;
  } finally {
    clearTimeout(timer);
  }
  if (isSilent) throw new EventStoreSilent(silenceMs);
};

/** Connects to the leader of a cluster. `silenceMs` limits the wait for an event when `answerTime` is `null`. */
export const openReads = (
  url: string,
  answerTime: AnswerTime | null,
  breaker: Breaker,
  silenceMs: number = READ_SILENCE_MS,
): Reads => {
  const { url: leaderUrl, requiresLeader } = leaderReadsOf(url);
  const reading = openRenewableClient(leaderUrl);
  const places = createPlaces({
    max: READS_MAX,
    perKey: READS_MAX,
    waiting: {
      max: READS_WAITING_MAX,
      perKey: READS_WAITING_MAX,
      timeoutMs: () => answerTime?.left() ?? timeLeft(PATIENT_WAIT_MS),
    },
    refuse: () => new EventStoreBusy(`all its ${READS_MAX} places for reads are taken`),
  });
  const lookMs = Math.min(LOOK_ANSWER_MS, silenceMs);
  const lookTime = createAnswerTime(lookMs);

  let isLooking = false;
  /** Waits for an answer after the caller has left: short waits alone would never find the server silent. */
  const lookAfter = async (
    client: EventStoreDBClient,
    events: Ending<unknown>,
    answer: Promise<unknown>,
  ): Promise<void> => {
    if (!isLooking && client === reading.current()) {
      isLooking = true;
      await reading.run(() => withTimeout(answer, lookMs)).catch(() => undefined);
      isLooking = false;
    }
    await events.cancel();
  };

  /** Throws `EventStoreSilent` when no event arrives in time, and `TimeUsedUp` when the caller had too little time. */
  const inRequest = async function* <T>(
    client: EventStoreDBClient,
    events: Ending<T>,
    time: AnswerTime | null,
  ): AsyncGenerator<T> {
    const left = (): number => (time === null ? timeLeft(silenceMs) : time.left());
    // Timers are early by part of a millisecond.
    const isSilence = (givenMs: number): boolean =>
      time === null ? givenMs >= silenceMs : time.isSilence(givenMs);
    const iterator = events[Symbol.asyncIterator]();
    let givenMs = left();
    let answer = iterator.next();
    try {
      for (;;) {
        const next = await withTimeout(answer, givenMs);
        if (next.done) return;
        yield next.value;
        givenMs = left();
        answer = iterator.next();
      }
    } catch (error) {
      if (!(error instanceof EventStoreSilent)) throw error;
      const isSilent = hasTime() && isSilence(givenMs);
      const ending = isSilent ? events.cancel() : lookAfter(client, events, answer);
      ending.catch(() => undefined);
      throw isSilent ? error : new TimeUsedUp();
    }
  };

  /** Throws `ReadCutOff` when the client was replaced before the end. */
  const inTime = async function* <T>(
    client: EventStoreDBClient,
    events: Ending<T>,
    time = answerTime,
  ): AsyncGenerator<T> {
    let isReplaced = false;
    const ignoreReplaced = reading.onReplaced(client, () => {
      isReplaced = true;
    });
    try {
      yield* time === null && !hasTimeBudget()
        ? inPatience(events, silenceMs)
        : inRequest(client, events, time);
    } finally {
      ignoreReplaced();
    }
    if (isReplaced) throw new ReadCutOff();
  };

  /** Refuses a request at once while the server does not answer. */
  const beginRead = async (): Promise<() => void> => {
    requireTime();
    if (answerTime !== null) breaker.check();
    return await places.enter('');
  };
  const noteRead = (error?: unknown): void => {
    // A caller without time left says nothing about the server.
    if (answerTime === null || error instanceof TimeUsedUp) return;
    if (isConnectionFault(error)) breaker.failed(error);
    else breaker.succeeded();
  };

  const read = async function* <E extends Event>(
    stream: string,
    after = -1n,
    count = Number.MAX_SAFE_INTEGER,
  ): AsyncGenerator<RecordedEvent<E>> {
    using ending = new DisposableStack();
    ending.defer(await beginRead());
    const client = reading.current();
    const events = client.readStream(stream, {
      direction: 'forwards',
      fromRevision: after < 0n ? START : after + 1n,
      maxCount: count,
      requiresLeader,
    });
    let ended = false;
    try {
      for await (const { event } of inTime(client, events)) if (event) yield toRecordedEvent<E>(event);
      ended = true;
      noteRead();
    } catch (error) {
      ended = true;
      noteRead(error);
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
      reading.renewAfter(error, client);
      throw toClearError(error);
    } finally {
      // An open call would make disposing of the client wait.
      if (!ended) await events.cancel();
    }
  };

  /** Reads to the end: a read that stops early leaves its call open. */
  const readShort = async <T>(run: (client: EventStoreDBClient) => Promise<T>): Promise<T> => {
    using ending = new DisposableStack();
    ending.defer(await beginRead());
    try {
      const answer = await reading.run(run);
      noteRead();
      return answer;
    } catch (error) {
      noteRead(error);
      throw toClearError(error);
    }
  };

  const newest = async <E extends Event>(
    stream: string,
    count: number,
  ): Promise<readonly RecordedEvent<E>[]> => {
    try {
      return await readShort(async (client) => {
        const found: RecordedEvent<E>[] = [];
        const options = {
          direction: 'backwards',
          fromRevision: END,
          maxCount: count,
          requiresLeader,
        } as const;
        for await (const { event } of inTime(client, client.readStream(stream, options)))
          if (event) found.push(toRecordedEvent<E>(event));
        return found;
      });
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
      return [];
    }
  };
  const last = async <E extends Event>(stream: string): Promise<RecordedEvent<E> | null> =>
    (await newest<E>(stream, 1))[0] ?? null;

  /** Reads the log backwards until an event of our own. */
  const head = (): Promise<bigint> =>
    readShort(async (client) => {
      let before: Position | undefined;
      for (let page = 0; ; page += 1) {
        const maxCount = HEAD_PAGES[page] ?? HEAD_PAGE_MAX;
        const options = { direction: 'backwards', fromPosition: before ?? END, maxCount } as const;
        let count = 0;
        let end: bigint | undefined;
        for await (const { event } of inTime(client, client.readAll(options))) {
          count += 1;
          if (!event) continue;
          before = event.position;
          if (isOwn(event.streamId)) end ??= event.position.commit;
        }
        if (end !== undefined) return end;
        if (count < maxCount) return 0n;
      }
    });

  const idAt = (position: bigint): Promise<string | null> =>
    readShort(async (client) => {
      const fromPosition = { commit: position, prepare: position };
      let id: string | null = null;
      for await (const { event } of inTime(client, client.readAll({ fromPosition, maxCount: 1 })))
        if (event?.position.commit === position) ({ id } = event);
      return id;
    });

  /** The newest events pass the filter, or are so many that a checkpoint was due. */
  const isOwed = async (position: bigint | null, prefixes: readonly string[]): Promise<boolean> => {
    using ending = new DisposableStack();
    ending.defer(await beginRead());
    const client = reading.current();
    const options = { direction: 'backwards', fromPosition: END, maxCount: LOOK_EVENTS } as const;
    const found = client.readAll(options);
    let count = 0;
    let ended = false;
    try {
      for await (const { event } of inTime(client, found, lookTime)) {
        if (!event) continue;
        if (event.position.commit <= (position ?? -1n)) return false;
        count += 1;
        const { streamId } = event;
        if (prefixes.some((prefix) => streamId.startsWith(prefix))) return true;
      }
      return count >= LOOK_EVENTS;
    } catch (error) {
      ended = true;
      // A process that only follows the log makes no other read that notices a dead connection.
      reading.renewAfter(error, client);
      throw error;
    } finally {
      if (!ended) await found.cancel().catch(() => undefined);
    }
  };

  return {
    read,
    last,
    newest,
    head,
    idAt,
    isOwed,
    [Symbol.asyncDispose]: () => reading[Symbol.asyncDispose](),
  };
};
