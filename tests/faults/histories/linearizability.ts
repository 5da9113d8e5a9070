import { shrink } from './shrink.ts';

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
/** The same for each try to leave out an answer. */
const TRY_VISITED_MAX = 50_000;

/**
 * Returns true when such an order exists. A call without an end may be done at any time after it was sent, or never.
 * Throws when the search visits more than `visitedMax` states.
 */
export const isLinearizable = <State, Call extends TimedCall>(
  { initial, after, keyOf, isLast }: SequentialModel<State, Call>,
  calls: readonly Call[],
  visitedMax = VISITED_MAX,
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
        if (visited.size >= visitedMax)
          throw new Error(`the search visited ${visitedMax} states without an end`);
        visited.add(key);
        open.push({ done: then, state: reached });
      }
    }
  }
  return false;
};

/** Calls and the object that they used. */
export type Played<State, Call extends TimedCall> = {
  readonly model: SequentialModel<State, Call>;
  readonly calls: readonly Call[];
};

/** Returns false also when the search is too large. */
const isUnexplained = <State, Call extends TimedCall>({ model, calls }: Played<State, Call>): boolean => {
  try {
    return !isLinearizable(model, calls, TRY_VISITED_MAX);
  } catch {
    return false;
  }
};

/**
 * Returns the calls up to the first end that no order explains; the calls that were on their way then count as without an
 * end. Returns all when only the last state is unexplained.
 */
const upToUnexplained = <State, Call extends TimedCall>(
  { model, calls }: Played<State, Call>,
  unanswered: (call: Call) => Call,
): Played<State, Call> => {
  const anyLast = { ...model, isLast: () => true };
  const upTo = (endMs: number): readonly Call[] =>
    calls
      .filter(({ sentMs }) => sentMs <= endMs)
      .map((call) => (call.endedMs <= endMs ? call : unanswered(call)));
  const ends = calls.map(({ endedMs }) => endedMs).filter((endMs) => Number.isFinite(endMs));
  for (const endMs of ends.toSorted((a, b) => a - b)) {
    const cut = { model: anyLast, calls: upTo(endMs) };
    if (isUnexplained(cut)) return cut;
  }
  return { model, calls };
};

/**
 * Returns the smallest history found that no order explains. Each step gives an order more freedom, so what stays unexplained was
 * unexplained before: only one of `parts` is looked at, the calls after the first unexplained end are left out, and as many answers
 * as possible are forgotten. A call is never left out while others stay that may need it: it may be the one that explains them. A
 * call without an answer may be done at any time, or never. `whole` is unexplained. Each part is unexplained only if `whole` is.
 */
export const smallestUnexplained = <State, Call extends TimedCall>(
  whole: Played<State, Call>,
  parts: readonly Played<State, Call>[],
  unanswered: (call: Call) => Call,
): readonly Call[] => {
  const { model, calls } = upToUnexplained(parts.find(isUnexplained) ?? whole, unanswered);
  const forgetting = (kept: ReadonlySet<Call>): readonly Call[] =>
    calls.map((call) => (kept.has(call) ? call : unanswered(call)));
  const answers = shrink(
    calls.filter(({ endedMs }) => Number.isFinite(endedMs)),
    (kept) => isUnexplained({ model, calls: forgetting(new Set(kept)) }),
  );
  return forgetting(new Set(answers));
};
