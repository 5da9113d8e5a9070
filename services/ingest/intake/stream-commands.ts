import { LRUCache } from 'lru-cache';
import type { CommandMetadata, Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import { executeFromCached } from '#application/commands/command-handler.ts';
import type { CommandResult } from '#application/commands/handle-command.ts';
import type { EventStore, LoadedState } from '#platform/event-store/event-store.ts';

/** An ordinary state has a few kB, the largest about a megabyte. */
const CACHED_STREAMS_MAX = 200;

/** The state type is erased: only the decider creates and reads it. */
type StreamCommand = {
  readonly stream: string;
  readonly decider: Decider<unknown, Event>;
  readonly decision: (state: unknown) => readonly Event[];
  readonly metadata: CommandMetadata;
  readonly commandId: string;
  readonly beforeAppend?: BeforeAppend;
};

type BeforeAppend = (events: readonly Event[]) => Promise<void>;
type Streams = Pick<EventStore, 'load' | 'append'>;

export const appendingAfter = (eventStore: Streams, beforeAppend: BeforeAppend): Streams => ({
  load: eventStore.load,
  append: async (stream, expected, events, metadata, ids) => {
    await beforeAppend(events);
    return await eventStore.append(stream, expected, events, metadata, ids);
  },
});

/**
 * Caches states, so that a decision reads nothing while no other process appends. Otherwise each of 4,000 links of a
 * page would read all links before it.
 */
export const createStreamCommands = (eventStore: Streams) => {
  const states = new LRUCache<string, LoadedState<unknown>>({ max: CACHED_STREAMS_MAX });
  return async (command: StreamCommand): Promise<CommandResult<unknown, Event>> => {
    const { stream, beforeAppend } = command;
    const streams = beforeAppend ? appendingAfter(eventStore, beforeAppend) : eventStore;
    try {
      const result = await executeFromCached(streams, command, states.get(stream));
      const { state, revision, position } = result;
      states.set(stream, { state, revision, position });
      return result;
    } catch (error) {
      states.delete(stream);
      throw error;
    }
  };
};
