import { LRUCache } from 'lru-cache';
import { Refusal } from '#contracts/errors.ts';
import type { Actor, CommandMetadata, Event, RecordedEvent } from '#contracts/events/event.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import type { Decider } from '#domain/decider.ts';
import { pause } from '#platform/clock.ts';
import { requireTime, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import {
  type EventStore,
  type LoadedState,
  type Recorded,
  StreamMoved,
} from '#platform/event-store/event-store.ts';
import type { StateKeeper } from './snapshots/with-snapshots.ts';

/** For a process that acts on its own: `ingest`, `worker`, `delivery`. */
export const serviceActor = (id: string): Actor => ({ kind: 'service', id });

/** Only commands of API requests have a `requestId`; others are found by the correlation id. */
export const eventMetadata = (command: {
  readonly actor: Actor;
  /** Id of the request, scan or report that the command belongs to. */
  readonly correlationId: string;
  readonly causationId: string;
  readonly requestId?: string;
  /** Absent for events of the corpus, which belong to no workspace. */
  readonly workspaceId?: string;
}): CommandMetadata => ({
  $correlationId: command.correlationId,
  $causationId: command.causationId,
  request_id: command.requestId ?? command.correlationId,
  actor: command.actor,
  ...(command.workspaceId === undefined ? {} : { workspace_id: command.workspaceId }),
});

export type ConflictPolicy = {
  readonly retries: number;
  /** Before the nth repetition, from 1. Random, so that writers do not collide again. */
  readonly delayMs: (conflict: number) => number;
  readonly exhausted: (conflict: StreamMoved) => Error;
};

const refuse = (): Refusal => new Refusal('changed_meanwhile', 'Too many concurrent changes. Try again.');

/** Sixty tries within about two seconds, then a refusal. */
export const CALLER_CONFLICTS: ConflictPolicy = {
  retries: 60,
  delayMs: (conflict) => Math.random() * Math.min(50, 2 * conflict),
  exhausted: refuse,
};

/**
 * Each try rereads the brand's working tables. Rethrows the last conflict: a refused scan is dead-lettered, a failed
 * one is redelivered.
 */
export const SCAN_CONFLICTS: ConflictPolicy = {
  retries: 20,
  delayMs: (conflict) => Math.random() * 20 * conflict,
  exhausted: (conflict) => conflict,
};

/** A stream is one such store; the working tables of an ad library, with the brand's stream, are another. */
export type StateStore<State, E extends Event> = {
  load(conflicts: number): Promise<State>;
  /** In order. May gather events until `commit`. Throws `StreamMoved` on a conflict. */
  append(events: readonly E[]): Promise<void>;
  commit(): Promise<Recorded | null>;
};

export type Decide<State, E extends Event> = (state: State) => readonly E[] | AsyncIterable<readonly E[]>;

/**
 * Starts again by the policy when another writer appended first. Throws the policy's error, or the decision's refusal.
 */
export const handleCommand = async <State, E extends Event>(command: {
  readonly store: StateStore<State, E>;
  readonly decide: Decide<State, E>;
  readonly conflicts: ConflictPolicy;
}): Promise<Recorded | null> => {
  const { store, decide, conflicts: policy } = command;
  for (let conflicts = 0; ; ) {
    try {
      const state = await store.load(conflicts);
      const decided = decide(state);
      if (Symbol.asyncIterator in decided) for await (const events of decided) await store.append(events);
      else await store.append(decided);
      return await store.commit();
    } catch (error) {
      if (!(error instanceof StreamMoved)) throw error;
      conflicts += 1;
      if (conflicts > policy.retries) throw policy.exhausted(error);
      await pause(policy.delayMs(conflicts));
    }
  }
};

export type CommandResult<State, E extends Event> = LoadedState<State> & {
  /** Empty when the state was already as the command asks for. */
  readonly events: readonly E[];
};

/** The state is the fold of the stream; events are appended at its revision. */
export type StreamStore<State, E extends Event> = StateStore<State, E> & {
  result(): CommandResult<State, E>;
};

/** `from`: a state loaded before; only later events are read. Repetitions read on from the attempt before. */
export const createStreamStore = <State, E extends Event>(
  eventStore: Pick<EventStore, 'load' | 'append'>,
  command: {
    readonly stream: string;
    readonly decider: Decider<State, E>;
    readonly metadata: CommandMetadata;
    readonly commandId: string;
    readonly from?: LoadedState<State> | undefined;
  },
): StreamStore<State, E> => {
  const { stream, decider, metadata, commandId } = command;
  let loaded = command.from;
  let result: CommandResult<State, E> | undefined;
  return {
    load: async () => {
      loaded = await eventStore.load(stream, decider, loaded);
      result = { ...loaded, events: [] };
      return loaded.state;
    },
    append: async (events) => {
      if (events.length === 0 || !loaded) return;
      const recorded = await eventStore.append(stream, loaded.revision, events, metadata, commandId);
      result = { state: events.reduce(decider.evolve, loaded.state), events, ...recorded };
    },
    commit: async () => (result && result.events.length > 0 ? result : null),
    result: () => {
      if (!result) throw new Error('a command has no result before its state is loaded');
      return result;
    },
  };
};

type Repeated<State, E extends Event> = {
  readonly stream: string;
  readonly decider: Decider<State, E>;
  readonly decision: (state: State) => readonly E[];
  readonly commandId: string;
};

const findEarlier = async <State, E extends Event>(
  eventStore: Pick<EventStore, 'load'>,
  { stream, decider, commandId }: Repeated<State, E>,
): Promise<CommandResult<State, E> | null> => {
  const events: E[] = [];
  let found: CommandResult<State, E> | null = null;
  let isPast = false;
  const evolve = (state: State, event: E): State => {
    const { id, revision, position } = event as unknown as RecordedEvent;
    isPast ||= events.length > 0 && id !== eventIdOf(commandId, events.length);
    if (isPast) return state;
    const next = decider.evolve(state, event);
    if (id === eventIdOf(commandId, events.length)) {
      events.push(event);
      found = { state: next, events, revision, position, eventId: id };
    }
    return next;
  };
  // Without snapshots: the state of one may be later than the events.
  await eventStore.load(stream, { initial: decider.initial, evolve });
  return found;
};

/**
 * `null` when none was recorded. Decides on the state right after the earlier attempt, so that later changes neither
 * repeat nor refuse it; the store compares ids only after the expected revision. A refusal is decided on the newest
 * state too, which says more.
 */
export const outcomeOfEarlierAttempt = async <State, E extends Event>(
  eventStore: Pick<EventStore, 'load'>,
  command: Repeated<State, E>,
): Promise<CommandResult<State, E> | null> => {
  const found = await findEarlier(eventStore, command);
  if (found === null) return null;
  try {
    const isThere = command.decision(found.state).length === 0;
    return { ...found, events: isThere ? [] : found.events };
  } catch (error) {
    if (error instanceof Refusal) {
      const { state } = await eventStore.load(command.stream, command.decider);
      command.decision(state);
    }
    throw error;
  }
};

const CACHED_STREAMS_MAX = 200;

export type Command<State, E extends Event> = {
  readonly stream: string;
  readonly decider: Decider<State, E>;
  readonly decision: (state: State) => readonly E[];
  readonly metadata: CommandMetadata;
  readonly commandId: string;
  /** An earlier attempt may be recorded: its events are looked for in the whole stream, and no cached state decides. */
  readonly mayRepeat: boolean;
  /** Many commands share these streams: their state is cached, and the next append needs no read. */
  readonly isShared?: boolean;
  /** Defaults to `CALLER_CONFLICTS`. */
  readonly conflicts?: ConflictPolicy;
  /** Sees the events of each try to append. */
  readonly beforeAppend?: ((events: readonly Event[]) => Promise<void>) | undefined;
};

export type CommandHandler = {
  execute<State, E extends Event>(command: Command<State, E>): Promise<CommandResult<State, E>>;
  /** Throws the decision's refusals, and `changed_meanwhile` after too many conflicts. */
  load<State, E extends Event>(stream: string, decider: Decider<State, E>): Promise<LoadedState<State>>;
};

/** A refusal on a cached state may be wrong, so it counts as "no events" and the state is read from the log. */
const decideOrNone = <E extends Event>(decision: () => readonly E[]): readonly E[] => {
  try {
    return decision();
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
};

/** A store that keeps states is offered the state after each command. */
export type CommandStore = Pick<EventStore, 'load' | 'append'> & Partial<StateKeeper>;

export const executeCommand = async <State, E extends Event>(
  eventStore: CommandStore,
  command: Omit<Command<State, E>, 'mayRepeat' | 'isShared'>,
  from?: LoadedState<State>,
): Promise<CommandResult<State, E>> => {
  const store = createStreamStore<State, E>(eventStore, { ...command, from });
  const { decision: decide, conflicts = CALLER_CONFLICTS } = command;
  await handleCommand({ store, decide, conflicts });
  const result = store.result();
  eventStore.keepState?.(command.stream, command.decider, result);
  return result;
};

/** An append at the cached revision proves that the state was current. Otherwise decides on the state of the log. */
export const executeFromCached = async <State, E extends Event>(
  eventStore: CommandStore,
  command: Omit<Command<State, E>, 'mayRepeat' | 'isShared'>,
  cached: LoadedState<State> | undefined,
): Promise<CommandResult<State, E>> => {
  const { stream, decider, decision, metadata, commandId } = command;
  if (cached) {
    const events = decideOrNone(() => decision(cached.state));
    try {
      if (events.length > 0) {
        const recorded = await eventStore.append(stream, cached.revision, events, metadata, commandId);
        const state = events.reduce(decider.evolve, cached.state);
        const result = { state, events, ...recorded };
        eventStore.keepState?.(stream, decider, result);
        return result;
      }
    } catch (error) {
      if (!(error instanceof StreamMoved)) throw error;
    }
  }
  return executeCommand(eventStore, command, cached);
};

/** Appends only after `beforeAppend` has seen the events. */
export const appendingAfter = (
  eventStore: CommandStore,
  beforeAppend: (events: readonly Event[]) => Promise<void>,
): CommandStore => ({
  ...eventStore,
  append: async (stream, expected, events, metadata, ids) => {
    await beforeAppend(events);
    return await eventStore.append(stream, expected, events, metadata, ids);
  },
});

/**
 * Commands on one stream run one after another within the process. With revisions alone, all but one of 200 that
 * collide would read, decide and append in vain each time. Waits end when the time of the command's own calls begins.
 */
export const createCommandHandler = (
  eventStore: CommandStore & Pick<EventStore, 'waitFor'>,
): CommandHandler => {
  /** The end of the last command of each stream. */
  const ends = new Map<string, Promise<unknown>>();
  const states = new LRUCache<string, LoadedState<unknown>>({ max: CACHED_STREAMS_MAX });

  const cache = (stream: string, loaded: LoadedState<unknown>): void => {
    // A load that began before a command may end after it.
    if ((states.get(stream)?.revision ?? -1n) < loaded.revision) states.set(stream, loaded);
  };

  const run = async <State, E extends Event>(
    command: Command<State, E>,
  ): Promise<CommandResult<State, E>> => {
    const { stream, mayRepeat, isShared, beforeAppend } = command;
    const store = beforeAppend ? appendingAfter(eventStore, beforeAppend) : eventStore;
    if (mayRepeat) {
      return (await outcomeOfEarlierAttempt(store, command)) ?? (await executeCommand(store, command));
    }
    const cached = states.get(stream) as LoadedState<State> | undefined;
    const result = await executeFromCached(store, command, cached);
    // After a possible repetition the log may have other events than those decided here, so only this state is cached.
    if (isShared) {
      const { state, revision, position, eventId } = result;
      cache(stream, { state, revision, position, eventId });
    }
    return result;
  };

  return {
    load: async <State, E extends Event>(stream: string, decider: Decider<State, E>) => {
      const cached = states.get(stream) as LoadedState<State> | undefined;
      const loaded = await eventStore.load(stream, decider, cached);
      cache(stream, loaded);
      return loaded;
    },
    execute: async (command) => {
      const { stream } = command;
      const ended = Promise.withResolvers<unknown>();
      const before = ends.get(stream);
      const end: Promise<unknown> =
        before === undefined ? ended.promise : Promise.all([before, ended.promise]);
      ends.set(stream, end);
      const forget = (): void => {
        if (ends.get(stream) === end) ends.delete(stream);
      };
      void end.then(forget);
      let running: Promise<unknown> | undefined;
      try {
        // A command whose turn comes too late is refused, and does not run.
        if (before !== undefined) await eventStore.waitFor(before);
        requireTime();
        const result = run(command);
        running = result;
        return await untilTimeUsedUp(result);
      } finally {
        // A command may run longer than its caller waits.
        if (running === undefined) ended.resolve(null);
        else running.then(ended.resolve, ended.resolve);
      }
    },
  };
};
