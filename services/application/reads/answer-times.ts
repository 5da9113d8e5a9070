/** The last answer times of a server. */
export type AnswerTimes = {
  /** Adds one, in milliseconds. */
  add(ms: number): void;
  /** Returns their median; 0 before the first. */
  median(): number;
};

/** Answers whose times are kept: with fewer, a single late one would decide. */
const ANSWERS_KEPT = 5;

export const createAnswerTimes = (): AnswerTimes => {
  const kept: number[] = [];
  return {
    add: (ms) => {
      kept.push(ms);
      if (kept.length > ANSWERS_KEPT) kept.shift();
    },
    median: () => kept.toSorted((a, b) => a - b)[Math.floor(kept.length / 2)] ?? 0,
  };
};
