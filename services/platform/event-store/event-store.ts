import { WrongExpectedVersionError } from '@eventstore/db-client';
import { categoryOf, type CommandMetadata, type Event, type RecordedEvent } from '#contracts/events/event.ts';
import { currentVersion, requireReadable } from '#contracts/events/schema-registry.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import { type Follower, followLog, type FollowOptions } from './catch-up-subscription.ts';
import { appendMeter } from '../telemetry/metrics.ts';
import { openAppendStream } from './append/append-stream.ts';
import type { Recorded } from './append/append-message.ts';
import { createAnswerTime } from './answer-time.ts';
import { createBreaker, createPatientSend, createPromptSend } from './append/append-with-retry.ts';
import { encodeEvent, slicesOf } from './append/encode-events.ts';
import { EventStoreBusy, EventStoreSilent } from './errors.ts';
import { openReads } from './reads.ts';
import { openRenewableClient } from './renewable-client.ts';
import { currentTraceparent, inSpan, isTracing } from '../telemetry/tracing.ts';

export type { Recorded } from './append/append-message.ts';

/** The part of a decider that folds a stream: an initial state and one step for each event. */
export type Fold<State, E extends Event> = {
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
};

/** A folded stream: the state, and where its last event stands (revision -1n and position 0n when empty). */
export type LoadedState<State> = Recorded & {
  readonly state: State;
  /** Id of the last event; absent when the stream is empty or the id is not known. */
  readonly eventId?: string | undefined;
};

/** Thrown by an append whose expected revision is not the stream's last: another writer appended first. */
export class StreamMoved extends Error {
  constructor(stream: string) {
    super(`the stream ${stream} moved on`);
    this.name = 'StreamMoved';
  }
}

export type EventStore = AsyncDisposable & {
  /** Reads the events of a stream after `after` (exclusive; -1n for all). An absent stream is empty. */
  read<E extends Event>(stream: string, after?: bigint): AsyncIterable<RecordedEvent<E>>;
  /** Reads the last event of a stream; `null` when there is none. */
  last<E extends Event>(stream: string): Promise<RecordedEvent<E> | null>;
  /** Reads the last `count` events of a stream, newest first. */
  newest<E extends Event>(stream: string, count: number): Promise<readonly RecordedEvent<E>[]>;
  /**
   * Folds a stream from its beginning, or the rest of it after a state that was loaded before. Throws
   * `UnreadableEvent` when this release does not know an event's type or schema version.
   */
  load<State, E extends Event>(
    stream: string,
    fold: Fold<State, E>,
    from?: LoadedState<State>,
  ): Promise<LoadedState<State>>;
  /**
   * Appends at exactly `expected` (-1n: the stream must not exist). Events beyond one append's size go in
   * several appends, in order. Throws `StreamMoved` on a conflict.
   */
  append(
    stream: string,
    expected: bigint,
    events: readonly Event[],
    metadata: CommandMetadata,
    /** The command's id, from which event ids follow by index; or a function that returns each event's own id. */
    ids: string | ((event: Event) => string),
  ): Promise<Recorded>;
  /**
   * Waits for other work on this event store, such as earlier commands on a stream. For a request at most until the time of its
   * own calls must begin: then it throws `EventStoreSilent`, or `EventStoreBusy` when the server has answered others meanwhile.
   */
  waitFor<T>(work: Promise<T>): Promise<T>;
  /** Opens a catch-up subscription to the whole log. */
  follow(options: FollowOptions): Follower;
  /** Commit position of the newest event of our own; 0n when there is none. Events of the server itself do not count. */
  head(): Promise<bigint>;
  /**
   * True when the log has events after the position (`null`: from its beginning) in streams with these prefixes. Also true when
   * more events than a subscription skips without a checkpoint are after it.
   */
  isBehind(position: bigint | null, prefixes: readonly string[]): Promise<boolean>;
};

export type EventStoreLimits = {
  /**
   * Milliseconds from the arrival of a request in which the event store must answer it: in each wait, what is left of them. `null`
   * for background work: an append is retried for a minute, and the next event of a read must arrive within a minute.
   */
  readonly answerWithinMs?: number | null;
  /** Milliseconds for the next event of a read of background work; a minute when absent. */
  readonly readSilenceMs?: number;
};

export type EventStoreOptions = EventStoreLimits & {
  /**
   * Proves that this process may still append. It is called before each slice of an append is sent, and before it is sent again.
   * When it throws, nothing more is sent, and the append throws its error.
   */
  readonly proveAppend?: () => Promise<void>;
};

/**
 * Opens the event store. It connects on first use, so a server that is down fails the first call. Appends, reads and
 * subscriptions have a connection each: each works without the others, and is replaced without them.
 */
export const openEventStore = (
  url: string,
  { answerWithinMs = null, readSilenceMs, proveAppend }: EventStoreOptions = {},
): EventStore => {
  // Two of them: a node that has lost its cluster still answers reads.
  const breakers = { appends: createBreaker(), reads: createBreaker() };
  const answerTime = answerWithinMs === null ? null : createAnswerTime(answerWithinMs);
  const sendAppend =
    answerTime === null ? createPatientSend() : createPromptSend(answerTime, breakers.appends);
  const appending = openAppendStream(url);
  const following = openRenewableClient(url);
  const reads = openReads(url, answerTime, breakers.reads, readSilenceMs);

  const load: EventStore['load'] = async (stream, fold, from) => {
    let loaded = from ?? { state: fold.initial, revision: -1n, position: 0n };
    for await (const event of reads.read(stream, loaded.revision)) {
      const { revision, position, id: eventId } = event;
      loaded = {
        state: fold.evolve(loaded.state, requireReadable(event) as never),
        revision,
        position,
        eventId,
      };
    }
    return loaded;
  };

  const sendEvents: EventStore['append'] = async (stream, expectedRevision, events, metadata, ids) => {
    let revision = expectedRevision;
    let position = 0n;
    const traceparent = currentTraceparent();
    const traced = traceparent === undefined ? metadata : { ...metadata, traceparent };
    const encoded = events.map((event, index) =>
      encodeEvent(event, typeof ids === 'string' ? eventIdOf(ids, index) : ids(event), {
        ...traced,
        schema_version: currentVersion(stream, event.type),
      }),
    );
    for (const slice of slicesOf(encoded)) {
      const expected = revision;
      const since = performance.now();
      const took = (): number => (performance.now() - since) / 1_000;
      try {
        const request = { stream, expected, events: slice };
        ({ revision, position } = await sendAppend(async (withinMs) => {
          await proveAppend?.();
          return await appending.append(request, withinMs);
        }));
        appendMeter.recorded(took());
      } catch (error) {
        if (error instanceof WrongExpectedVersionError) {
          appendMeter.conflict(took());
          throw new StreamMoved(stream);
        }
        appendMeter.failed(took());
        throw error;
      }
    }
    return { revision, position };
  };

  const append: EventStore['append'] = (stream, expected, events, metadata, ids) =>
    isTracing()
      ? inSpan(
          `append ${categoryOf(stream)}`,
          { kind: 'producer', attributes: { events: events.length } },
          () => sendEvents(stream, expected, events, metadata, ids),
        )
      : sendEvents(stream, expected, events, metadata, ids);

  const waitFor: EventStore['waitFor'] = async (work) => {
    if (answerTime === null) return work;
    const since = performance.now();
    const withinMs = answerTime.leftBefore();
    const isLate = Promise.withResolvers<never>();
    const giveUp = (): void => {
      const hasAnswered = Object.values(breakers).some((one) => one.hasSucceededSince(since));
      const isAnswering = hasAnswered || !answerTime.isSilence(withinMs);
      const error = isAnswering
        ? new EventStoreBusy('other work on it takes long')
        : new EventStoreSilent(withinMs);
      if (!isAnswering) for (const one of Object.values(breakers)) one.failed(error);
      isLate.reject(error);
    };
    // A busy process may not have read yet what has arrived: timers run before sockets are read.
    const timer = setTimeout(() => setImmediate(giveUp), withinMs);
    try {
      return await Promise.race([work, isLate.promise]);
    } finally {
      clearTimeout(timer);
      answerTime.spend(performance.now() - since);
    }
  };

  return {
    waitFor,
    read: reads.read,
    last: reads.last,
    newest: reads.newest,
    head: reads.head,
    isBehind: reads.isOwed,
    load,
    append,
    follow: (options) => {
      const client = following.current();
      return followLog(client, options, {
        onFailure: (error) => {
          if (error instanceof EventStoreSilent) following.renew(client);
          else following.renewAfter(error, client);
        },
        isOwed: (position) => reads.isOwed(position, options.prefixes),
        onReplaced: (callback) => following.onReplaced(client, callback),
      });
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([appending, reads, following].map((opened) => opened[Symbol.asyncDispose]()));
    },
  };
};
