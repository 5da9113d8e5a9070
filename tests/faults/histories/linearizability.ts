import { shrink } from './shrink.ts';

/** Finds an order of calls that explains all replies: Wing and Gong (1993), with the visited states of Lowe (2017). */

export type TimedCall = { readonly sentMs: number; readonly endedMs: number };

export type SequentialModel<State, Call extends TimedCall> = {
  readonly initial: State;
  /** States after the call; none when its outcome is not possible. */
  readonly after: (state: State, call: Call) => readonly State[];
  /** Text that equal states share. */
  readonly keyOf: (state: State) => string;
  /** True for a state that is possible after all calls. */
  readonly isLast: (state: State) => boolean;
};

/** Limit of the states that a search visits; it throws beyond, and trials stay far below. */
const VISITED_MAX = 2_000_000;
/** The same limit for each try to leave out an answer. */
const TRY_VISITED_MAX = 50_000;

/** A call without an end may be done any time after sending, or never. Throws above `visitedMax` states. */
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

export type Played<State, Call extends TimedCall> = {
  readonly model: SequentialModel<State, Call>;
  readonly calls: readonly Call[];
};

/** True when no order explains the calls; false also when the search is too large. */
const isUnexplained = <State, Call extends TimedCall>({ model, calls }: Played<State, Call>): boolean => {
  try {
    return !isLinearizable(model, calls, TRY_VISITED_MAX);
  } catch {
    return false;
  }
};

/** Calls up to the first unexplained end. Those under way then count as without an end. */
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
 * Smallest history without an order. Forgetting answers and later calls gives more freedom, so what stays unexplained
 * was so before. No call is left out while others may need it. Each part is unexplained only if `whole` is, and
 * `whole` is.
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
