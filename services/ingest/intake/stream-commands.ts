import { LRUCache } from 'lru-cache';
import type { CommandMetadata, Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import { executeCommand } from '#application/commands/command-handler.ts';
import type { EventStore, LoadedState } from '#platform/event-store/event-store.ts';

/** Maximum streams whose state is cached. An ordinary state has a few kB, the largest about a megabyte. */
const CACHED_STREAMS_MAX = 200;

/** A decision on one stream; the state type is erased, because only the decider creates and reads it. */
type StreamCommand = {
  readonly stream: string;
  readonly decider: Decider<unknown, Event>;
  readonly decision: (state: unknown) => readonly Event[];
  readonly metadata: CommandMetadata;
  readonly commandId: string;
};

/**
 * Creates the function that runs decisions of observations and returns their events. It caches the states of the last
 * streams and reads only the events after them. Otherwise each of 4,000 links of one social page would read all links
 * before it.
 */
export const createStreamCommands = (eventStore: Pick<EventStore, 'load' | 'append'>) => {
  const states = new LRUCache<string, LoadedState<unknown>>({ max: CACHED_STREAMS_MAX });
  return async (command: StreamCommand): Promise<readonly Event[]> => {
    const { stream } = command;
    try {
      const { events, ...loaded } = await executeCommand(eventStore, command, states.get(stream));
      states.set(stream, loaded);
      return events;
    } catch (error) {
      states.delete(stream);
      throw error;
    }
  };
};
