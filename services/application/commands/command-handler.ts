import { LRUCache } from 'lru-cache';
import type { Event, CommandMetadata } from '#contracts/events/event.ts';
import { Refusal } from '#contracts/errors.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import type { Decider } from '#domain/decider.ts';
import { createKeyedMutex } from '#platform/concurrency/keyed-mutex.ts';
import { requireTime, TimeUsedUp, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import { type EventStore, type LoadedState, StreamMoved } from '#platform/event-store/event-store.ts';
import { outcomeOfEarlierAttempt } from './earlier-attempt.ts';
import { CALLER_CONFLICTS, type ConflictPolicy, handleCommand } from './handle-command.ts';
import type { StateKeeper } from './snapshots/with-snapshots.ts';
import { type CommandResult, createStreamStore } from './stream-store.ts';

/** Maximum streams whose state one handler caches. The largest hold five thousand brands. */
const CACHED_STREAMS_MAX = 200;

/** A command on one stream. Event ids follow from `commandId`. */
export type Command<State, E extends Event> = {
  readonly stream: string;
  readonly decider: Decider<State, E>;
  readonly decision: (state: State) => readonly E[];
  readonly metadata: CommandMetadata;
  readonly commandId: string;
  /**
   * True when an earlier attempt of this command may have been recorded. Its events are then looked for in the whole stream, so
   * that it is recorded once, and the command is never decided on a cached state.
   */
  readonly mayRepeat: boolean;
  /** True for streams that many commands share: their state is cached, and the next append needs no read. */
  readonly isShared?: boolean;
  /** Defaults to `CALLER_CONFLICTS`. */
  readonly conflicts?: ConflictPolicy;
};

export type CommandHandler = {
  /** Runs a command. Throws the decision's refusals, and `changed_meanwhile` after too many conflicts. */
  execute<State, E extends Event>(command: Command<State, E>): Promise<CommandResult<State, E>>;
  /** Loads the state of a stream that many commands share: the cached state, and the events after it. */
  load<State, E extends Event>(stream: string, decider: Decider<State, E>): Promise<LoadedState<State>>;
};

/** A refusal on a cached state may be wrong, so it is treated as "no events" and the state is read from the log. */
const decideOrNone = <E extends Event>(decision: () => readonly E[]): readonly E[] => {
  try {
    return decision();
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
};

/** An event store for commands. One that keeps states is offered the state after each command. */
export type CommandStore = Pick<EventStore, 'load' | 'append'> & Partial<StateKeeper>;

/** Runs a command on the state of the log, without a cache and without waiting for other commands of this process. */
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

/**
 * Runs a command whose state may be cached. Appends what it decides on the cached state, without a read; an append that
 * is taken at the cached revision proves that the state was current. Otherwise runs it on the state of the log.
 */
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
 * Creates the command handler of a process. Commands on one stream run one after another within the process, so that
 * it competes with other processes only. Expected revisions alone would keep them correct, but of 200 commands that
 * collide, all but one would read, decide and append in vain each time. A command waits for those before it at most until the
 * time of its own calls to the event store must begin.
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
        // After a possible repetition the log may hold other events than those decided here, so the state is not
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
