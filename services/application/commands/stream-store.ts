import type { Event, CommandMetadata } from '#contracts/events/event.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import type { Decider } from '#domain/decider.ts';
import type { EventStore, LoadedState } from '#platform/event-store/event-store.ts';
import type { StateStore } from './handle-command.ts';

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
      const eventId = eventIdOf(commandId, events.length - 1);
      result = { state: events.reduce(decider.evolve, loaded.state), events, ...recorded, eventId };
    },
    commit: async () => (result && result.events.length > 0 ? result : null),
    result: () => {
      if (!result) throw new Error('a command has no result before its state is loaded');
      return result;
    },
  };
};
