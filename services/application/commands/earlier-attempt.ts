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

/** Returns the events that an earlier attempt recorded, with the state right after them; `null` when there are none. */
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
 * Returns the outcome of an earlier attempt of a command; `null` when none was recorded. The decision is made on the state right
 * after it, so that later changes of others neither record the command once more nor refuse it. The store alone would not notice: it
 * compares ids only of events after the expected revision.
 *
 * A decision may refuse a repetition, as that of an API key whose text was in the lost reply. It is then made on the newest
 * state too, whose refusal says more.
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
