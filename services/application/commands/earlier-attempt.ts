import { Refusal } from '#contracts/errors.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import type { Decider } from '#domain/decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { CommandResult } from './stream-store.ts';

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
