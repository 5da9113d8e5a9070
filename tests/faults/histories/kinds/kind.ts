import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import type { Shown, Write } from '../history.ts';
import type { Played } from '../linearizability.ts';
import type { Reply, Request } from '../session.ts';

/** Returns an integer from 0 to below a limit. */
export type Choose = (below: number) => number;

/** The knowledge from which a caller chooses its next write. */
export type Known = {
  /** Ids that replies have shown, oldest first. */
  readonly ids: readonly string[];
  /** A text that no other write of the trial has. */
  readonly text: string;
};

/** Writes on one object, which are explained together, and the same for parts of the object (see `smallestUnexplained`). */
export type PlayedObject<State, Call extends Write> = Played<State, Call> & {
  readonly parts: readonly Played<State, Call>[];
};

type Named = { readonly kind: string };

/** A kind of resource of one workspace: how callers write and read it, and how their writes are explained. */
export type Kind<Operation extends Named, Outcome extends Named, State, E extends Event> = {
  readonly name: string;
  /** Path of the list, which shows at most a hundred records. */
  readonly path: string;
  /** First characters of the names of its streams. */
  readonly streams: string;
  /** Id of a record that callers read, but do not write to. */
  readonly untouched?: string;
  readonly choose: (choose: Choose, known: Known) => Operation;
  readonly requestOf: (operation: Operation) => Request;
  /** Returns the outcome that a reply tells; `null` when no such reply may be sent. */
  readonly outcomeOf: (operation: Operation, reply: Reply) => Outcome | null;
  /** Returns id and JSON text of a record in a list, or in the reply to a write that shows it. */
  readonly recordOf: (data: unknown) => readonly [id: string, text: string];
  /** Operations whose replies show the record as the list has it. */
  readonly showing: ReadonlySet<Operation['kind']>;
  /** Returns the writes on each object, which an order must explain. `events`: those of its streams, in the order of the log. */
  readonly objectsOf: (
    writes: readonly Write<Operation, Outcome>[],
    events: readonly RecordedEvent<E>[],
  ) => readonly PlayedObject<State, Write<Operation, Outcome>>[];
  /** Returns the records that each number of events leaves, from none to all. */
  readonly prefixesOf: (events: readonly E[]) => readonly Shown[];
};

/** Returns what is left by each number of events, from none to all. */
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
