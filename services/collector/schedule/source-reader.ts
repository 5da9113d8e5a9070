import type { PoliteClient } from '#platform/http-client/polite-client.ts';
import type { OpenBatch } from './batch-store.ts';
import type { ReadOutcome } from './read-outcome.ts';

/** A target that is being read. */
export type Reading<Cursor> = {
  readonly domain: string;
  readonly batch: OpenBatch<Cursor>;
  readonly client: PoliteClient;
  readonly now: () => Date;
  readonly signal: AbortSignal;
};

/** Reads the targets of one source. */
export type SourceReader = {
  /** Milliseconds between two readings; `null` for the cadence of the wishes. */
  readonly intervalMs: number | null;
  /** Reads a target from where its batch goes on. Throws `RowLeaseLost`, and when aborted. */
  read(reading: Reading<object>): Promise<ReadOutcome>;
  /** Ends a batch that took too long. Returns what was read so far. */
  giveUp(reading: Reading<object>): Promise<ReadOutcome>;
};
