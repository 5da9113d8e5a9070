import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import type { Shown, Write } from '../history.ts';
import type { Played } from '../linearizability.ts';
import type { Reply, Request } from '../session.ts';

/** Integer from 0 to below the limit. */
export type Choose = (below: number) => number;

export type Known = {
  /** Ids from replies, oldest first. */
  readonly ids: readonly string[];
  /** Text that is unique in the trial. */
  readonly text: string;
};

/** Writes on one object, and on its parts (see `smallestUnexplained`). */
export type PlayedObject<State, Call extends Write> = Played<State, Call> & {
  readonly parts: readonly Played<State, Call>[];
};

type Named = { readonly kind: string };

export type Kind<Operation extends Named, Outcome extends Named, State, E extends Event> = {
  readonly name: string;
  /** Path of the list, which shows at most a hundred records. */
  readonly path: string;
  /** Prefix of stream names. */
  readonly streams: string;
  /** Id of a record that callers read, but do not write to. */
  readonly untouched?: string;
  readonly choose: (choose: Choose, known: Known) => Operation;
  readonly requestOf: (operation: Operation) => Request;
  /** Outcome of a reply; `null` when no such reply may be sent. */
  readonly outcomeOf: (operation: Operation, reply: Reply) => Outcome | null;
  /** Id and text of a record, from a list or the reply to a write. */
  readonly recordOf: (data: unknown) => readonly [id: string, text: string];
  /** Operations whose replies show the record as the list has it. */
  readonly showing: ReadonlySet<Operation['kind']>;
  /** Writes on each object. `events`: in the order of the log. */
  readonly objectsOf: (
    writes: readonly Write<Operation, Outcome>[],
    events: readonly RecordedEvent<E>[],
  ) => readonly PlayedObject<State, Write<Operation, Outcome>>[];
  /** Records after each number of events, from none to all. */
  readonly prefixesOf: (events: readonly E[]) => readonly Shown[];
};

/** States after each number of events, from none to all. */
export const statesOf = <State, E>(
  { initial, evolve }: { readonly initial: State; readonly evolve: (state: State, event: E) => State },
  events: readonly E[],
): readonly State[] => {
  let state = initial;
  return [
    state,
    ...events.map((event) => {
      state = evolve(state, event);
      return state;
    }),
  ];
};
