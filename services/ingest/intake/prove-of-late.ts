import { ServerSilent } from '#platform/postgres/connection-failure.ts';

/** Milliseconds after which a proof is out of date: Postgres frees what a process that was stopped owned after 5 s. */
const PROOF_LIMIT_MS = 3_000;
/** Proofs that are made in a row, when each took longer than that. */
const PROOFS_MAX = 3;

/**
 * Proves what this process owns, not longer ago than `PROOF_LIMIT_MS`: a process that was stopped while it waited for an
 * answer proves it again. Throws the error of the proof, and `ServerSilent` when the answers take too long.
 */
export const proveOfLate = async (prove: () => Promise<void>): Promise<void> => {
  for (let proofs = 0; proofs < PROOFS_MAX; proofs += 1) {
    const askedAt = performance.now();
    await prove();
    if (performance.now() - askedAt < PROOF_LIMIT_MS) return;
  }
  throw new ServerSilent(PROOF_LIMIT_MS);
};
