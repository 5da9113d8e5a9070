/**
 * EventStoreDB before 24.10.5, and 25.0.0, send wrong checkpoints: 2^64 - 1, or a commit position after an event that
 * was not sent. A reader that stored one would stop, or miss an event.
 */
const POSITION_LIMIT = 2n ** 63n;

export type CheckpointGuard = {
  passed(position: bigint): void;
  /** Notes the checkpoint when it counts. */
  accepts(checkpoint: { readonly commit: bigint; readonly prepare: bigint }): boolean;
  /** `null` at the beginning of the log. */
  last(): bigint | null;
};

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
