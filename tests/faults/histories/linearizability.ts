/**
 * Search for an order in which the calls could have been done one after another: each between its sending and its end, with the
 * outcome of its reply. The algorithm is that of Wing and Gong (1993), with the visited states of Lowe (2017).
 */

export type TimedCall = { readonly sentMs: number; readonly endedMs: number };

/** The object that the calls used. */
export type SequentialModel<State, Call extends TimedCall> = {
  readonly initial: State;
  /** Returns the states after the call if its outcome is possible in this state, otherwise none. */
  readonly after: (state: State, call: Call) => readonly State[];
  /** Returns equal texts for equal states. */
  readonly keyOf: (state: State) => string;
  /** Returns whether the object may be in this state after all calls. */
  readonly isLast: (state: State) => boolean;
};

/** Maximum states that a search visits. Trials stay far below it; beyond it the search throws. */
const VISITED_MAX = 2_000_000;

/**
 * Returns true when such an order exists. A call without an end may be done at any time after it was sent, or never.
 * Throws when the search is too large.
 */
export const isLinearizable = <State, Call extends TimedCall>(
  { initial, after, keyOf, isLast }: SequentialModel<State, Call>,
  calls: readonly Call[],
): boolean => {
  const sorted = calls.toSorted((a, b) => a.sentMs - b.sentMs);
  const answered = sorted.reduce(
    (bits, { endedMs }, place) => (Number.isFinite(endedMs) ? bits | (1n << BigInt(place)) : bits),
    0n,
  );
  const visited = new Set<string>();
  const open: { readonly done: bigint; readonly state: State }[] = [{ done: 0n, state: initial }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { done, state } = next;
    if ((done & answered) === answered && isLast(state)) return true;
    const left = [...sorted.entries()].filter(([place]) => (done & (1n << BigInt(place))) === 0n);
    const firstEndMs = Math.min(...left.map(([, { endedMs }]) => endedMs));
    // The last pushed one is tried first: the call that ended first was mostly done first.
    const possible = left
      .filter(([, { sentMs }]) => sentMs <= firstEndMs)
      .toSorted(([, a], [, b]) => b.endedMs - a.endedMs);
    for (const [place, call] of possible) {
      for (const reached of after(state, call)) {
        const then = done | (1n << BigInt(place));
        const key = `${then.toString(36)} ${keyOf(reached)}`;
        if (visited.has(key)) continue;
        if (visited.size >= VISITED_MAX)
          throw new Error(`the search visited ${VISITED_MAX} states without an end`);
        visited.add(key);
        open.push({ done: then, state: reached });
      }
    }
  }
  return false;
};

/**
 * Returns the calls up to the first end that no order explains; the calls that were on their way then count as without an
 * end. Returns all when only the last state is unexplained. Call it for calls that have no order.
 */
export const shortestUnexplained = <State, Call extends TimedCall>(
  model: SequentialModel<State, Call>,
  calls: readonly Call[],
  unanswered: (call: Call) => Call,
): readonly Call[] => {
  const upTo = (endMs: number): readonly Call[] =>
    calls
      .filter(({ sentMs }) => sentMs <= endMs)
      .map((call) => (call.endedMs <= endMs ? call : unanswered(call)));
  const ends = calls.map(({ endedMs }) => endedMs).filter((endMs) => Number.isFinite(endMs));
  for (const endMs of ends.toSorted((a, b) => a - b)) {
    if (!isLinearizable({ ...model, isLast: () => true }, upTo(endMs))) return upTo(endMs);
  }
  return calls;
};
