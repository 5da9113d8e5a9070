import { WrongExpectedVersionError } from '@eventstore/db-client';
import { categoryOf, type CommandMetadata, type Event, type RecordedEvent } from '#contracts/events/event.ts';
import { currentVersion, requireReadable } from '#contracts/events/schema-registry.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import { type Follower, followLog, type FollowOptions } from './catch-up-subscription.ts';
import { appendMeter } from '../telemetry/metrics.ts';
import { openAppendStream, type Recorded, encodeEvent, slicesOf } from './append-stream.ts';
import { createAnswerTime, createBreaker, createPatientSend, createPromptSend } from './answer-time.ts';
import { EventStoreBusy, EventStoreSilent } from './errors.ts';
import { openReads } from './reads.ts';
import { currentTraceparent, inSpan, isTracing } from '../telemetry/tracing.ts';

export type { Recorded } from './append-stream.ts';

export type Fold<State, E extends Event> = {
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
};

/** Place of the last event; `eventId` is absent when the stream is empty or the id is not known. */
export type Place = Recorded & { readonly eventId?: string | undefined };

/** Revision -1n and position 0n when empty. */
export type LoadedState<State> = Place & { readonly state: State };

/** Another writer appended first. */
export class StreamMoved extends Error {
  constructor(stream: string) {
    super(`the stream ${stream} moved on`);
    this.name = 'StreamMoved';
  }
}

export type EventStore = AsyncDisposable & {
  /** `after` is exclusive; -1n for all. At most `count` events; a server sends no others. An absent stream is empty. */
  read<E extends Event>(stream: string, after?: bigint, count?: number): AsyncIterable<RecordedEvent<E>>;
  last<E extends Event>(stream: string): Promise<RecordedEvent<E> | null>;
  newest<E extends Event>(stream: string, count: number): Promise<readonly RecordedEvent<E>[]>;
  /** Starts at the beginning or a loaded state. Throws `UnreadableEvent` for an unknown type or schema version. */
  load<State, E extends Event>(
    stream: string,
    fold: Fold<State, E>,
    from?: LoadedState<State>,
  ): Promise<LoadedState<State>>;
  /** -1n: the stream must not exist. Large appends are sliced, in order. Throws `StreamMoved` on a conflict. */
  append(
    stream: string,
    expected: bigint,
    events: readonly Event[],
    metadata: CommandMetadata,
    /** Id of the command, from which event ids follow by index, or the id of each event. */
    ids: string | ((event: Event) => string),
  ): Promise<Place>;
  /** Throws `EventStoreSilent`, or `EventStoreBusy` when others were answered, if a request has no time left. */
  waitFor<T>(work: Promise<T>): Promise<T>;
  follow(options: FollowOptions): Follower;
  /** 0n for a log without our own events. Events of the server itself do not count. */
  head(): Promise<bigint>;
  /** Id of the event at a position; `null` without one. Another log has another event there. */
  idAt(position: bigint): Promise<string | null>;
  /** `null`: from the beginning. Also true after more events than a subscription skips without a checkpoint. */
  isBehind(position: bigint | null, prefixes: readonly string[]): Promise<boolean>;
};

export type EventStoreLimits = {
  /** Milliseconds from the arrival of a request. `null` for background work: a minute for each append or next event. */
  readonly answerWithinMs?: number | null;
  /** For background work; a minute when absent. */
  readonly readSilenceMs?: number;
};

export type EventStoreOptions = EventStoreLimits & {
  /** Called before each slice of an append is sent, also again. Its error ends the append. */
  readonly proveAppend?: () => Promise<void>;
};

/** Connects on first use. Appends, reads and each follower have a connection of their own, so that each fails alone. */
export const openEventStore = (
  url: string,
  { answerWithinMs = null, readSilenceMs, proveAppend }: EventStoreOptions = {},
): EventStore => {
  // Appends and reads have one each: a node that has lost its cluster still answers reads.
  const breakers = { appends: createBreaker(), reads: createBreaker() };
  const answerTime = answerWithinMs === null ? null : createAnswerTime(answerWithinMs);
  const sendAppend =
    answerTime === null ? createPatientSend() : createPromptSend(answerTime, breakers.appends);
  const appending = openAppendStream(url);
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
    return { revision, position, eventId: encoded.at(-1)?.id };
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
    idAt: reads.idAt,
    isBehind: reads.isOwed,
    load,
    append,
    follow: (options) =>
      followLog(url, options, { isOwed: (position) => reads.isOwed(position, options.prefixes) }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([appending, reads].map((opened) => opened[Symbol.asyncDispose]()));
    },
  };
};
