import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '#contracts/errors.ts';
import type { Event } from '#contracts/events/event.ts';
import type { UNKNOWN, Write } from '../history.ts';
import type { SequentialModel } from '../linearizability.ts';

/**
 * Calls are explained when the decider gives each outcome in order, and their events are exactly those of the stream.
 */

/** State after a number of the stream's events. */
export type StreamState<State> = { readonly state: State; readonly events: number };

type Named = { readonly kind: string };

/** Events of a decision; `null` when it is refused. */
export type Decided<E> = readonly E[] | null;

export const decidedOrRefused = <E>(decision: () => readonly E[]): Decided<E> => {
  try {
    return decision();
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

export type StreamRules<State, E extends Event, Operation extends Named, Outcome extends Named> = {
  readonly decider: { readonly initial: State; readonly evolve: (state: State, event: E) => State };
  /** `next`: following events of the stream, which tell times and ids that the service chose. */
  readonly decide: (state: State, write: Write<Operation, Outcome>, next: readonly E[]) => Decided<E>;
  /** True when a reply may tell this outcome of the decision. */
  readonly mayTell: (outcome: Outcome, decided: Decided<E>) => boolean;
  readonly timeOf: (event: E) => string;
};

const isKnown = <Outcome>(outcome: Outcome | typeof UNKNOWN): outcome is Outcome =>
  (outcome as Named).kind !== 'unknown';

/** Compares with properties in any order. */
const areEqual = (decided: readonly Event[], recorded: readonly Event[]): boolean =>
  isDeepStrictEqual(
    decided,
    recorded.map(({ type, data }) => ({ type, data })),
  );

/** `before`: events recorded before the first call. */
export const streamModel = <State, E extends Event, Operation extends Named, Outcome extends Named>(
  { decider, decide, mayTell, timeOf }: StreamRules<State, E, Operation, Outcome>,
  stream: readonly E[],
  before = 0,
): SequentialModel<StreamState<State>, Write<Operation, Outcome>> => {
  const isWhile = ({ sentMs, endedMs }: Write, event: E): boolean => {
    const ms = Date.parse(timeOf(event));
    return ms >= Math.floor(sentMs) && ms <= endedMs;
  };
  return {
    initial: { state: stream.slice(0, before).reduce(decider.evolve, decider.initial), events: before },
    after: (reached, write) => {
      const { state, events } = reached;
      const decided = decide(state, write, stream.slice(events));
      if (isKnown(write.outcome) && !mayTell(write.outcome, decided)) return [];
      if (decided === null || decided.length === 0) return [reached];
      const recorded = stream.slice(events, events + decided.length);
      const isRecorded = areEqual(decided, recorded) && recorded.every((event) => isWhile(write, event));
      return isRecorded
        ? [{ state: recorded.reduce(decider.evolve, state), events: events + recorded.length }]
        : [];
    },
    // The events of the stream fix the state.
    keyOf: ({ events }) => String(events),
    isLast: ({ events }) => events === stream.length,
  };
};
