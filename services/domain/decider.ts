/**
 * The fold of an aggregate's events into the state that its decisions use. `initial` is the state of an empty stream,
 * and `evolve` returns the state after one more event. Its switch has no default case: `tsc` then rejects a new event
 * type until its decider handles it. Decisions are functions `(input) => (state) => events`.
 */
export type Decider<State, E> = {
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
};
