import {
  EventStoreDBClient,
  END,
  type JSONEventType,
  jsonEvent,
  NO_STREAM,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { categoryOf, type Event, type EventMetadata, type RecordedEvent } from '#contracts/events/event.ts';
import { Refusal } from '#contracts/errors.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import { type Follower, followLog, type FollowOptions, toRecordedEvent } from './catch-up-subscription.ts';
import { pause } from '../clock.ts';
import { appendMeter } from '../telemetry/metrics.ts';
import { sendAppend, slicesOf } from './append-with-retry.ts';
import { currentTraceparent, inSpan, isTracing } from '../telemetry/tracing.ts';

/** Somebody else appended first: the decision is made again on the new state. */
const CONFLICT_RETRIES = 60;
/** A client with a call that the server left hanging is not waited for longer. */
const DISPOSE_LIMIT_MS = 200;

/** Where a recorded event stands. */
export type Recorded = { readonly revision: bigint; readonly position: bigint };

/** How a stream's events fold into the state that decisions are made on. `evolve` has no default case. */
export type Decider<State, F extends Event> = {
  readonly initial: State;
  readonly evolve: (state: State, event: F) => State;
};

/** A stream's state as it was folded before, and where its last event stands. */
export type KnownState<State> = Recorded & { readonly state: State };

/** An event that one event store refused because the stream had moved on. */
export class StreamMoved extends Error {
  constructor(stream: string) {
    super(`the stream ${stream} moved on`);
    this.name = 'StreamMoved';
  }
}

export type EventStore = AsyncDisposable & {
  /** All events of a stream after `after` (exclusive; -1n for all). An absent stream is empty. */
  read<F extends Event>(stream: string, after?: bigint): AsyncIterable<RecordedEvent<F>>;
  /** The last event of a stream, or `null`. */
  last<F extends Event>(stream: string): Promise<RecordedEvent<F> | null>;
  /**
   * Appends at exactly `expected` (-1n: the stream must not exist). Events beyond one append's size go in
   * several, in order. Throws `StreamMoved` on a conflict.
   */
  append(
    stream: string,
    expected: bigint,
    events: readonly Event[],
    metadata: EventMetadata,
    /** The command's id, from which those of its events follow by their places; or each event's own. */
    ids: string | ((event: Event) => string),
  ): Promise<Recorded>;
  /**
   * Load, fold, decide, append, and again when somebody was faster. `null`: nothing to record. A `known` state
   * is tried first and without reading: that the append at its revision is taken proves that it was current.
   * A refusal, nothing to record or a conflict proves nothing, and the events after it are read. Not for a
   * command that may have come before: of a repetition the store looks at the ids alone.
   */
  decide<State, F extends Event>(command: {
    readonly stream: string;
    readonly decider: Decider<State, F>;
    readonly decision: (state: State) => readonly F[];
    readonly metadata: EventMetadata;
    readonly commandId: string;
    readonly known?: KnownState<State> | undefined;
  }): Promise<{ readonly recorded: Recorded | null; readonly state: State; readonly events: readonly F[] }>;
  follow(options: FollowOptions): Follower;
  /** Commit position of the newest event of the whole log; 0 when it is empty. */
  head(): Promise<bigint>;
};

/** What a decision on a state that may be old says no to, it may say yes to on the state of now. */
const noneWhenRefused = <F extends Event>(decision: () => readonly F[]): readonly F[] => {
  try {
    return decision();
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
};

/** What is wrong with a connection string is not repeated as the client says it: it may hold a password. */
const connect = (url: string): EventStoreDBClient => {
  try {
    return EventStoreDBClient.connectionString(url);
  } catch {
    throw new Error('EVENT_STORE_URL is no connection string like esdb://user:password@host:2113?tls=true');
  }
};

/**
 * Opens the event store. Connects lazily: a server that is down is met on first use. Once in a process: the client
 * forgets the appends of all its connections when one breaks, and an answer over another would then end the process.
 */
export const openEventStore = (url: string): EventStore => {
  const client = connect(url);

  const read = async function* <F extends Event>(
    stream: string,
    after = -1n,
  ): AsyncGenerator<RecordedEvent<F>> {
    const events = client.readStream(stream, {
      direction: 'forwards',
      fromRevision: after < 0n ? START : after + 1n,
    });
    let ended = false;
    try {
      for await (const { event } of events) if (event) yield toRecordedEvent<F>(event);
      ended = true;
    } catch (error) {
      ended = true;
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
      throw error;
    } finally {
      // A reader that left early has left its call open, and disposing of the client would wait for it.
      if (!ended) await events.cancel();
    }
  };

  const last = async <F extends Event>(stream: string): Promise<RecordedEvent<F> | null> => {
    let found: RecordedEvent<F> | null = null;
    try {
      const newest = client.readStream(stream, { direction: 'backwards', fromRevision: END, maxCount: 1 });
      for await (const { event } of newest) if (event) found = toRecordedEvent<F>(event);
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
    }
    return found;
  };

  const appendNow: EventStore['append'] = async (stream, expected, events, metadata, ids) => {
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
          metadata: traced,
        }),
      );
      const expectedRevision = revision < 0n ? NO_STREAM : revision;
      const since = performance.now();
      const took = (): number => (performance.now() - since) / 1_000;
      try {
        const result = await sendAppend(() =>
          client.appendToStream(stream, jsonEvents, { expectedRevision }),
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

  const append: EventStore['append'] = (stream, ...given) =>
    isTracing()
      ? inSpan(
          `append ${categoryOf(stream)}`,
          { kind: 'producer', attributes: { events: given[1].length } },
          () => appendNow(stream, ...given),
        )
      : appendNow(stream, ...given);

  const decide: EventStore['decide'] = async (command) => {
    const { stream, decider, decision, metadata, commandId, known } = command;
    let state = known?.state ?? decider.initial;
    let revision = known?.revision ?? -1n;
    const readOn = async (): Promise<void> => {
      for await (const event of read(stream, revision)) {
        state = decider.evolve(state, event as never);
        revision = event.revision;
      }
    };
    let isRead = known === undefined;
    if (isRead) await readOn();
    for (let conflicts = 0; ; ) {
      const events = isRead ? decision(state) : noneWhenRefused(() => decision(state));
      if (events.length === 0 && isRead) return { recorded: null, state, events };
      try {
        if (events.length > 0) {
          const recorded = await append(stream, revision, events, metadata, commandId);
          return { recorded, state: events.reduce(decider.evolve, state), events };
        }
      } catch (error) {
        if (!(error instanceof StreamMoved)) throw error;
        conflicts += 1;
        if (conflicts > CONFLICT_RETRIES) {
          throw new Refusal('changed_meanwhile', 'Too many others changed this at once. Try again.');
        }
        await pause(Math.random() * Math.min(50, 2 * conflicts));
      }
      await readOn();
      isRead = true;
    }
  };

  return {
    read,
    last,
    append,
    decide,
    follow: (options) => followLog(client, options),
    head: async () => {
      let head = 0n;
      // Read to its end: a read left early keeps its call open, and disposing of the client would wait for it.
      for await (const { event } of client.readAll({
        direction: 'backwards',
        fromPosition: END,
        maxCount: 1,
      })) {
        if (event) head = event.position.commit;
      }
      return head;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.race([client.dispose(), pause(DISPOSE_LIMIT_MS)]);
    },
  };
};
