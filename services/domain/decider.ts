/**
 * The decision logic of one aggregate: an initial state, and how each event changes it. Decisions are functions
 * `(input) => (state) => events` beside it. `evolve` has no default case, so a new event type fails to compile.
 */
export type Decider<State, E> = {
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
};
