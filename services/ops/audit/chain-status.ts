import { chainHash, GENESIS_HASH, canonicalRecordText } from '#contracts/audit/entry.ts';
import { Refusal } from '#contracts/errors.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { listHistory } from '#projections/workspace-history/read.ts';

/** Entries read and hashed per batch. Other requests run between two batches. */
const READ_ENTRIES = 500;

export type ChainStatus = {
  readonly entries: number;
  readonly head_hash: string;
  readonly last_recorded_at: string;
  readonly intact: boolean;
  /** Sequence of the first entry that does not match; `null` when all match. */
  readonly broken_at: number | null;
};

/** Verifies the hash chain from the first entry to the first mismatch. Throws `not_found` without a history. */
export const checkChain = async (
  db: ReadDatabase,
  workspaceId: string,
  signal: AbortSignal,
): Promise<ChainStatus> => {
  let hash = GENESIS_HASH;
  let sequence = 0;
  let recordedAt: string | null = null;
  const status = (brokenAt: number | null): ChainStatus => {
    if (recordedAt === null) throw new Refusal('not_found', 'Workspace not found.');
    const intact = brokenAt === null;
    return { entries: sequence, head_hash: hash, last_recorded_at: recordedAt, intact, broken_at: brokenAt };
  };
  for (;;) {
    signal.throwIfAborted();
    const entries = await listHistory(db, workspaceId, {}, { limit: READ_ENTRIES, after: sequence });
    for (const entry of entries) {
      recordedAt = entry.recorded_at;
      const expected = sequence + 1;
      if (entry.sequence !== expected) return status(expected);
      if (chainHash(hash, expected, canonicalRecordText(entry)) !== entry.hash) return status(expected);
      ({ sequence, hash } = entry);
    }
    if (entries.length < READ_ENTRIES) return status(null);
  }
};
