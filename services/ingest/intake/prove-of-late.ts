import { ServerSilent } from '#platform/postgres/connection-failure.ts';

/** Below 5 s, after which Postgres frees the locks of a stopped process. */
const PROOF_LIMIT_MS = 3_000;
/** Proofs in a row that each took longer than that. */
const PROOFS_MAX = 3;

/**
 * Repeats a proof that took too long: the process may have been stopped meanwhile. Throws the proof's error, or
 * `ServerSilent`.
 */
export const proveOfLate = async (prove: () => Promise<void>): Promise<void> => {
  for (let proofs = 0; proofs < PROOFS_MAX; proofs += 1) {
    const askedAt = performance.now();
    await prove();
    if (performance.now() - askedAt < PROOF_LIMIT_MS) return;
  }
  throw new ServerSilent(PROOF_LIMIT_MS);
};
