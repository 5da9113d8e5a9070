/**
 * The fold of an aggregate's events into the state that its decisions use. `initial` is the state of an empty stream,
 * and `evolve` returns the state after one more event. Its switch has no default case: `tsc` then rejects a new event
 * type until its decider handles it. Decisions are functions `(input) => (state) => events`.
 */
export type Decider<State, E> = {
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
  /** Present for streams without a natural end: their states are stored, so that no command folds the whole stream. */
  readonly snapshot?: SnapshotCodec<State>;
};

/** Conversion of a state to JSON and back. The decoded state must be equal to the encoded one, order included. */
export type SnapshotCodec<State> = {
  /** Raised with each change of the state's shape or of `evolve`. Snapshots of other versions are ignored. */
  readonly version: number;
  readonly encode: (state: State) => unknown;
  readonly decode: (json: unknown) => State;
};

/** Returns the codec of a state that consists of JSON values only. */
export const jsonSnapshot = <State>(version: number): SnapshotCodec<State> => ({
  version,
  encode: (state) => state,
  decode: (json) => json as State,
});
