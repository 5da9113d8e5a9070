import type { PoliteClient } from '#platform/http-client/polite-client.ts';
import type { OpenBatch } from './batch-store.ts';
import type { ReadOutcome } from './read-outcome.ts';

export type Reading<Cursor> = {
  readonly domain: string;
  readonly batch: OpenBatch<Cursor>;
  readonly client: PoliteClient;
  readonly now: () => Date;
  readonly signal: AbortSignal;
};

export type SourceReader = {
  /** `null` for the cadence of the wishes. */
  readonly intervalMs: number | null;
  /** Reads from where the batch continues. Throws `RowLeaseLost`, and on abort. */
  read(reading: Reading<object>): Promise<ReadOutcome>;
  /** Ends a batch after its time limit. Returns what was read. */
  giveUp(reading: Reading<object>): Promise<ReadOutcome>;
};
