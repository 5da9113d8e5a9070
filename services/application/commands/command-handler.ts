import { LRUCache } from 'lru-cache';
import { Refusal } from '#contracts/errors.ts';
import type { CommandMetadata, Event, RecordedEvent } from '#contracts/events/event.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import type { Decider } from '#domain/decider.ts';
import { type EventStore, type LoadedState, StreamMoved } from '#platform/event-store/event-store.ts';
import { createKeyedMutex } from '#platform/concurrency/queues.ts';
import { TimeUsedUp, requireTime, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import {
  CALLER_CONFLICTS,
  type CommandResult,
  type ConflictPolicy,
  createStreamStore,
  handleCommand,
} from './handle-command.ts';
import type { StateKeeper } from './snapshots/with-snapshots.ts';

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
        const result = { state, events, ...recorded, eventId: eventIdOf(commandId, events.length - 1) };
        eventStore.keepState?.(stream, decider, result);
        return result;
      }
    } catch (error) {
      if (!(error instanceof StreamMoved)) throw error;
    }
  }
  return executeCommand(eventStore, command, cached);
};

/**
 * Commands on one stream run one after another within the process. With revisions alone, all but one of 200 that
 * collide would read, decide and append in vain each time. Waits end when the time of the command's own calls begins.
 */
export const createCommandHandler = (
  eventStore: CommandStore & Pick<EventStore, 'waitFor'>,
): CommandHandler => {
  const serialize = createKeyedMutex();
  const states = new LRUCache<string, LoadedState<unknown>>({ max: CACHED_STREAMS_MAX });

  const run = async <State, E extends Event>(
    command: Command<State, E>,
  ): Promise<CommandResult<State, E>> => {
    if (command.mayRepeat) {
      return (
        (await outcomeOfEarlierAttempt(eventStore, command)) ?? (await executeCommand(eventStore, command))
      );
    }
    const cached = states.get(command.stream);
    return executeFromCached(eventStore, command, cached as LoadedState<State> | undefined);
  };

  const cache = (stream: string, loaded: LoadedState<unknown>): void => {
    // A load that began before a command may end after it.
    if ((states.get(stream)?.revision ?? -1n) < loaded.revision) states.set(stream, loaded);
  };

  return {
    load: async <State, E extends Event>(stream: string, decider: Decider<State, E>) => {
      const cached = states.get(stream) as LoadedState<State> | undefined;
      const loaded = await eventStore.load(stream, decider, cached);
      cache(stream, loaded);
      return loaded;
    },
    execute: async (command) => {
      const turn = Promise.withResolvers<void>();
      let isGivenUp = false;
      const done = serialize(command.stream, async () => {
        turn.resolve();
        // Its turn came too late: its caller has been refused.
        if (isGivenUp) throw new TimeUsedUp();
        requireTime();
        const result = await run(command);
        // After a possible repetition the log may have other events than those decided here, so the state is not
        // cached.
        if (command.isShared && !command.mayRepeat) {
          const { state, revision, position, eventId } = result;
          cache(command.stream, { state, revision, position, eventId });
        }
        return result;
      });
      try {
        await eventStore.waitFor(turn.promise);
      } catch (error) {
        isGivenUp = true;
        done.catch(() => undefined);
        throw error;
      }
      return untilTimeUsedUp(done);
    },
  };
};
