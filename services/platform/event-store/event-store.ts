import {
  END,
  type JSONEventType,
  jsonEvent,
  NO_STREAM,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { categoryOf, type CommandMetadata, type Event, type RecordedEvent } from '#contracts/events/event.ts';
import { currentVersion, requireReadable } from '#contracts/events/schema-registry.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import { type Follower, followLog, type FollowOptions, toRecordedEvent } from './catch-up-subscription.ts';
import { appendMeter } from '../telemetry/metrics.ts';
import { createSendAppend, slicesOf, withTimeout } from './append-with-retry.ts';
import { EventStoreSilent, openRenewableClient } from './renewable-client.ts';
import { currentTraceparent, inSpan, isTracing } from '../telemetry/tracing.ts';

/** Revision in its stream and commit position in the log of the last event appended. */
export type Recorded = { readonly revision: bigint; readonly position: bigint };

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
  /** Opens a catch-up subscription to the whole log. */
  follow(options: FollowOptions): Follower;
  /** Commit position of the newest event of the whole log; 0n when it is empty. */
  head(): Promise<bigint>;
};

/** Milliseconds in which the event store must answer a call of a request. The request ends with 503 otherwise. */
export const REQUEST_ANSWER_MS = 4_000;

export type EventStoreLimits = {
  /**
   * Milliseconds in which an append, or the next event of a read, must arrive. `null` for background work: an append is
   * retried for a minute, a read waits until the connection ends.
   */
  readonly answerWithinMs?: number | null;
};

/**
 * Opens the event store. It connects on first use, so a server that is down fails the first call. Appends have a client of
 * their own, and one at a time: when a connection breaks, the package forgets the appends of all clients of the process. A
 * reply that then arrives over another connection would end the process.
 */
export const openEventStore = (url: string, { answerWithinMs = null }: EventStoreLimits = {}): EventStore => {
  const sendAppend = createSendAppend(answerWithinMs);
  const appending = openRenewableClient(url);
  const reading = openRenewableClient(url);

  /** Yields the events of a read. Throws `EventStoreSilent` when the next one does not arrive in time. */
  const inTime = async function* <T>(
    events: AsyncIterable<T> & { cancel(): Promise<void> },
  ): AsyncGenerator<T> {
    if (answerWithinMs === null) {
      yield* events;
      return;
    }
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await withTimeout(iterator.next(), answerWithinMs);
        if (next.done) return;
        yield next.value;
      }
    } catch (error) {
      if (error instanceof EventStoreSilent) void events.cancel().catch(() => undefined);
      throw error;
    }
  };

  const read = async function* <E extends Event>(
    stream: string,
    after = -1n,
  ): AsyncGenerator<RecordedEvent<E>> {
    const client = reading.current();
    const events = client.readStream(stream, {
      direction: 'forwards',
      fromRevision: after < 0n ? START : after + 1n,
    });
    let ended = false;
    try {
      for await (const { event } of inTime(events)) if (event) yield toRecordedEvent<E>(event);
      ended = true;
    } catch (error) {
      ended = true;
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
      reading.renewAfter(error, client);
      throw error;
    } finally {
      // A reader that stops early leaves its call open, and disposing of the client would wait for it.
      if (!ended) await events.cancel();
    }
  };

  const last = async <E extends Event>(stream: string): Promise<RecordedEvent<E> | null> => {
    let found: RecordedEvent<E> | null = null;
    try {
      await reading.run(async (client) => {
        const newest = client.readStream(stream, { direction: 'backwards', fromRevision: END, maxCount: 1 });
        for await (const { event } of inTime(newest)) if (event) found = toRecordedEvent<E>(event);
      });
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
    }
    return found;
  };

  const load: EventStore['load'] = async (stream, fold, from) => {
    let loaded = from ?? { state: fold.initial, revision: -1n, position: 0n };
    for await (const event of read(stream, loaded.revision)) {
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

  const sendEvents: EventStore['append'] = async (stream, expected, events, metadata, ids) => {
    let revision = expected;
    let position = 0n;
    const traceparent = currentTraceparent();
    const traced = traceparent === undefined ? metadata : { ...metadata, traceparent };
    for (const slice of slicesOf(events)) {
      const jsonEvents = slice.events.map((event, index) =>
        jsonEvent({
          id: typeof ids === 'string' ? eventIdOf(ids, slice.from + index) : ids(event),
          type: event.type,
          data: event.data as JSONEventType['data'],
          metadata: { ...traced, schema_version: currentVersion(stream, event.type) },
        }),
      );
      const expectedRevision = revision < 0n ? NO_STREAM : revision;
      const since = performance.now();
      const took = (): number => (performance.now() - since) / 1_000;
      try {
        const result = await sendAppend(() =>
          appending.run((client) => client.appendToStream(stream, jsonEvents, { expectedRevision })),
        );
        revision = result.nextExpectedRevision;
        position = result.position?.commit ?? 0n;
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

  return {
    read,
    last,
    load,
    append,
    follow: (options) => {
      const client = reading.current();
      return followLog(client, options, (error) => reading.renewAfter(error, client));
    },
    head: () =>
      reading.run(async (client) => {
        let head = 0n;
        // Read to its end: a reader that stops early leaves its call open, and disposing of the client would wait for it.
        const newest = client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 1 });
        for await (const { event } of inTime(newest)) if (event) head = event.position.commit;
        return head;
      }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([appending[Symbol.asyncDispose](), reading[Symbol.asyncDispose]()]);
    },
  };
};
