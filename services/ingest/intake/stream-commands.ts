import type { CommandMetadata, Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import { type CommandResult, createCommandHandler } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

export { appendingAfter } from '#application/commands/command-handler.ts';

/** The state type is erased: only the decider creates and reads it. */
type StreamCommand = {
  readonly stream: string;
  readonly decider: Decider<unknown, Event>;
  readonly decision: (state: unknown) => readonly Event[];
  readonly metadata: CommandMetadata;
  readonly commandId: string;
  readonly beforeAppend?: (events: readonly Event[]) => Promise<void>;
};

/**
 * Decides on cached states, so that a decision reads nothing while no other process appends. Otherwise each of 4,000
 * links of a page would read all links before it.
 */
export const createStreamCommands = (eventStore: Pick<EventStore, 'load' | 'append'>) => {
  const handler = createCommandHandler({ ...eventStore, waitFor: (work) => work });
  return (command: StreamCommand): Promise<CommandResult<unknown, Event>> =>
    handler.execute({ ...command, isShared: true, mayRepeat: false });
};
