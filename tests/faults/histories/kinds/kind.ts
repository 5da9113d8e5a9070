import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import type { Shown, Write } from '../history.ts';
import type { Played } from '../linearizability.ts';
import type { Reply, Request } from '../session.ts';

/** Integer from 0 to below the limit. */
export type Choose = (below: number) => number;

export type Known = {
  /** From replies, oldest first. */
  readonly ids: readonly string[];
  /** Unique in the trial. */
  readonly text: string;
};

/** For the parts see `smallestUnexplained`. */
export type PlayedObject<State, Call extends Write> = Played<State, Call> & {
  readonly parts: readonly Played<State, Call>[];
};

type Named = { readonly kind: string };

export type Kind<Operation extends Named, Outcome extends Named, State, E extends Event> = {
  readonly name: string;
  /** At most a hundred records. */
  readonly path: string;
  /** Prefix of stream names. */
  readonly streams: string;
  /** Callers read it, but do not write to it. */
  readonly untouched?: string;
  readonly choose: (choose: Choose, known: Known) => Operation;
  readonly requestOf: (operation: Operation) => Request;
  /** `null` when no such reply may be sent. */
  readonly outcomeOf: (operation: Operation, reply: Reply) => Outcome | null;
  /** From a list or the reply to a write. */
  readonly recordOf: (data: unknown) => readonly [id: string, text: string];
  /** Their replies show the record as the list has it. */
  readonly showing: ReadonlySet<Operation['kind']>;
  /** `events`: in the order of the log. */
  readonly objectsOf: (
    writes: readonly Write<Operation, Outcome>[],
    events: readonly RecordedEvent<E>[],
  ) => readonly PlayedObject<State, Write<Operation, Outcome>>[];
  /** For each number of events, from none to all. */
  readonly prefixesOf: (events: readonly E[]) => readonly Shown[];
};

/** For each number of events, from none to all. */
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
