import {
  EventStoreDBClient,
  type AllStreamRecordedEvent,
  END,
  type JSONEventType,
  jsonEvent,
  NO_STREAM,
  type RecordedEvent,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { Fact, FactMetadata, RecordedFact } from '#contracts/events/fact.ts';
import { Refusal } from '#contracts/errors.ts';
import { eventIdOf } from '#domain/ids.ts';
import { pause } from './clock.ts';
import { retry, type RetryLimits } from './retry.ts';

/** The client enforces append deadlines on the server only, so appends run under our own timer. */
const APPEND_TIMEOUT_MS = 10_000;
/** A lost connection or a slow server: the same events are appended again, by the same ids. */
const CONNECTION_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 50, maxDelayMs: 3_000 };
/** Somebody else appended first: the decision is made again on the new state. */
const CONFLICT_RETRIES = 60;
/** The server's own limit of one append is 1 MiB; this leaves room for what surrounds the data. */
const APPEND_MAX_BYTES = 900_000;
const APPEND_MAX_FACTS = 1_000;
/** A client with a call that the server left hanging is not waited for longer. */
const DISPOSE_LIMIT_MS = 200;

/** Where a recorded fact stands. */
export type Recorded = { readonly revision: bigint; readonly position: bigint };

/** How a stream's facts fold into the state that decisions are made on. `evolve` has no default case. */
export type Decider<State, F extends Fact> = {
  readonly initial: State;
  readonly evolve: (state: State, fact: F) => State;
};

/** A fact that one event store refused because the stream had moved on. */
export class StreamMoved extends Error {
  constructor(stream: string) {
    super(`the stream ${stream} moved on`);
    this.name = 'StreamMoved';
  }
}

class AppendTimeout extends Error {
  constructor() {
    super(`no answer to an append within ${APPEND_TIMEOUT_MS} ms`);
    this.name = 'AppendTimeout';
  }
}

/**
 * Faults after which the same append may be sent again: the ids make it safe. The first append to a
 * server that is down rejects with a bare gRPC error (code 14) and no type.
 */
const isConnectionFault = (error: unknown): boolean => {
  if (error instanceof AppendTimeout) return true;
  if (!(error instanceof Error)) return false;
  const { type, code } = error as { type?: string; code?: number };
  return (
    type === 'unavailable' ||
    type === 'timeout' ||
    type === 'deadline-exceeded' ||
    type === 'cancelled' ||
    type === 'not-leader' ||
    (type === 'unknown' && code !== 3) ||
    code === 14 ||
    code === 4 ||
    code === 1
  );
};

const withTimeout = async <T>(promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppendTimeout()), APPEND_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
};

const toRecordedFact = <F extends Fact>(event: RecordedEvent | AllStreamRecordedEvent): RecordedFact<F> =>
  ({
    type: event.type,
    data: event.data,
    stream: event.streamId,
    revision: event.revision,
    position: (event as AllStreamRecordedEvent).position?.commit ?? 0n,
    recordedAt: event.created,
    id: event.id,
    metadata: event.metadata as unknown as FactMetadata,
  }) as RecordedFact<F>;

/** Facts in slices that one append may hold. */
const slicesOf = <F extends Fact>(facts: readonly F[]): { from: number; facts: F[] }[] => {
  const slices: { from: number; facts: F[] }[] = [];
  let slice: F[] = [];
  let bytes = 0;
  let from = 0;
  facts.forEach((fact, index) => {
    const size = Buffer.byteLength(JSON.stringify(fact.data)) + 600;
    if (slice.length > 0 && (bytes + size > APPEND_MAX_BYTES || slice.length >= APPEND_MAX_FACTS)) {
      slices.push({ from, facts: slice });
      slice = [];
      bytes = 0;
      from = index;
    }
    slice.push(fact);
    bytes += size;
  });
  if (slice.length > 0) slices.push({ from, facts: slice });
  return slices;
};

/** What a follower meets, in order. */
export type Followed =
  | { readonly kind: 'fact'; readonly fact: RecordedFact }
  /** Everything up to here was delivered, though nothing of it may have passed the filter. */
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caught_up' };

export type FollowOptions = {
  /** Exclusive; `null` from the beginning. */
  readonly after: bigint | null;
  /** Stream-name prefixes: the only filter that every server evaluates alike. */
  readonly prefixes: readonly string[];
  /** How many items may wait here before the server is held back. */
  readonly bufferItems: number;
};

/** One catch-up subscription, read in batches. Ends by throwing when the connection is lost. */
export type Follower = AsyncDisposable & {
  /** Waits for at least one item, then takes what is there, up to `max`. `[]` once closed. */
  take(max: number): Promise<readonly Followed[]>;
};

export type EventStore = AsyncDisposable & {
  /** All facts of a stream after `after` (exclusive; -1n for all). An absent stream is empty. */
  read<F extends Fact>(stream: string, after?: bigint): AsyncIterable<RecordedFact<F>>;
  /** The last fact of a stream, or `null`. */
  last<F extends Fact>(stream: string): Promise<RecordedFact<F> | null>;
  /**
   * Appends at exactly `expected` (-1n: the stream must not exist). Facts beyond one append's size go in
   * several, in order. Throws `StreamMoved` on a conflict.
   */
  append(
    stream: string,
    expected: bigint,
    facts: readonly Fact[],
    metadata: FactMetadata,
    /** The command's id, from which those of its facts follow by their places; or each fact's own. */
    ids: string | ((fact: Fact) => string),
  ): Promise<Recorded>;
  /** Load, fold, decide, append, and again when somebody was faster. `null`: nothing to record. */
  decide<State, F extends Fact>(command: {
    readonly stream: string;
    readonly decider: Decider<State, F>;
    readonly decision: (state: State) => readonly F[];
    readonly metadata: FactMetadata;
    readonly commandId: string;
  }): Promise<{ readonly recorded: Recorded | null; readonly state: State; readonly facts: readonly F[] }>;
  follow(options: FollowOptions): Follower;
  /** Commit position of the newest event of the whole log; 0 when it is empty. */
  head(): Promise<bigint>;
};

/** Opens the event store. Connects lazily: a server that is down is met on first use. */
export const openEventStore = (url: string): EventStore => {
  const client = EventStoreDBClient.connectionString(url);

  const read = async function* <F extends Fact>(
    stream: string,
    after = -1n,
  ): AsyncGenerator<RecordedFact<F>> {
    const events = client.readStream(stream, {
      direction: 'forwards',
      fromRevision: after < 0n ? START : after + 1n,
    });
    let ended = false;
    try {
      for await (const { event } of events) if (event) yield toRecordedFact<F>(event);
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

  const last = async <F extends Fact>(stream: string): Promise<RecordedFact<F> | null> => {
    let found: RecordedFact<F> | null = null;
    try {
      const newest = client.readStream(stream, { direction: 'backwards', fromRevision: END, maxCount: 1 });
      for await (const { event } of newest) if (event) found = toRecordedFact<F>(event);
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
    }
    return found;
  };

  const append: EventStore['append'] = async (stream, expected, facts, metadata, ids) => {
    let revision = expected;
    let position = 0n;
    for (const slice of slicesOf(facts)) {
      const events = slice.facts.map((fact, index) =>
        jsonEvent({
          id: typeof ids === 'string' ? eventIdOf(ids, slice.from + index) : ids(fact),
          type: fact.type,
          data: fact.data as JSONEventType['data'],
          metadata: metadata,
        }),
      );
      const expectedRevision = revision < 0n ? NO_STREAM : revision;
      try {
        const result = await retry(CONNECTION_RETRIES, isConnectionFault, () =>
          withTimeout(client.appendToStream(stream, events, { expectedRevision })),
        );
        revision = result.nextExpectedRevision;
        position = result.position?.commit ?? 0n;
      } catch (error) {
        if (error instanceof WrongExpectedVersionError) throw new StreamMoved(stream);
        throw error;
      }
    }
    return { revision, position };
  };

  const decide: EventStore['decide'] = async ({ stream, decider, decision, metadata, commandId }) => {
    for (let attempt = 0; ; attempt += 1) {
      let state = decider.initial;
      let revision = -1n;
      for await (const fact of read(stream)) {
        state = decider.evolve(state, fact as never);
        revision = fact.revision;
      }
      const facts = decision(state);
      if (facts.length === 0) return { recorded: null, state, facts };
      try {
        const recorded = await append(stream, revision, facts, metadata, commandId);
        return { recorded, state: facts.reduce(decider.evolve, state), facts };
      } catch (error) {
        if (!(error instanceof StreamMoved)) throw error;
        if (attempt >= CONFLICT_RETRIES) {
          throw new Refusal('changed_meanwhile', 'Too many others changed this at once. Try again.');
        }
        await pause(Math.random() * Math.min(50, 2 * (attempt + 1)));
      }
    }
  };

  const follow = ({ after, prefixes, bufferItems }: FollowOptions): Follower => {
    const queue: Followed[] = [];
    let failure: Error | undefined;
    let closed = false;
    let wake: (() => void) | undefined;
    const push = (item: Followed): void => {
      queue.push(item);
      wake?.();
    };
    // Whatever the stream buffered before a marker is read out first, so that markers keep their place.
    const drain = (): void => {
      for (let next = subscription.read(); next !== null; next = subscription.read()) {
        if (next.event) push({ kind: 'fact', fact: toRecordedFact(next.event) });
      }
    };
    const subscription = client.subscribeToAll({
      fromPosition: after === null ? START : { commit: after, prepare: after },
      filter: streamNameFilter({
        prefixes: [...prefixes],
        checkpointInterval: 32,
        checkpointReached: async (_, position) => {
          drain();
          push({ kind: 'checkpoint', position: position.commit });
        },
      }),
    });
    subscription.on('readable', () => {
      if (queue.length < bufferItems) drain();
    });
    subscription.on('caughtUp', () => {
      drain();
      push({ kind: 'caught_up' });
    });
    subscription.on('error', (error: Error) => {
      failure ??= error;
      wake?.();
    });
    subscription.on('end', () => {
      closed = true;
      wake?.();
    });
    return {
      take: async (max) => {
        if (queue.length === 0 && !closed) drain();
        while (queue.length === 0) {
          if (closed) return [];
          if (failure) throw failure;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
        }
        const items = queue.splice(0, max);
        if (queue.length < bufferItems) drain();
        return items;
      },
      [Symbol.asyncDispose]: async () => {
        closed = true;
        wake?.();
        await subscription.unsubscribe().catch(() => undefined);
      },
    };
  };

  return {
    read,
    last,
    append,
    decide,
    follow,
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
