/**
 * Checks checkpoints before they are stored. EventStoreDB before 24.10.5, and 25.0.0, send wrong ones: 2^64 - 1, which every
 * later event is below, and pairs with different commit and prepare positions, which can lie after an event that was
 * not sent yet. A reader that stored one would stop, or miss an event.
 */
const POSITION_LIMIT = 2n ** 63n;

export type CheckpointGuard = {
  /** Notes an event that was delivered. */
  passed(position: bigint): void;
  /** True for a checkpoint that counts. It is noted. */
  accepts(checkpoint: { readonly commit: bigint; readonly prepare: bigint }): boolean;
  /** The highest position that counts so far; `null` at the beginning of the log. */
  last(): bigint | null;
};

/** Creates the guard of a subscription that starts after this position. */
export const createCheckpointGuard = (after: bigint | null): CheckpointGuard => {
  let last = after;
  const reaches = (position: bigint): boolean => last === null || position >= last;
  return {
    passed: (position) => {
      if (reaches(position)) last = position;
    },
    accepts: ({ commit, prepare }) => {
      if (commit !== prepare || commit >= POSITION_LIMIT || !reaches(commit)) return false;
      last = commit;
      return true;
    },
    last: () => last,
  };
};
