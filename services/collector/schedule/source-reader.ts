import type { Observation } from '#contracts/observations/index.ts';
import type { PoliteClient } from '#platform/http-client/polite-client.ts';
import type { OpenBatch } from './target-store.ts';

export type ReadOutcome =
  | {
      readonly kind: 'read';
      readonly observations: readonly Observation[];
      readonly outcome: 'complete' | 'partial';
      readonly detail: string;
    }
  /** Nothing to observe. Due by the cadence, and not before `notBeforeMs`. */
  | {
      readonly kind: 'nothing';
      readonly outcome: string;
      readonly detail: string;
      readonly notBeforeMs: number | null;
    }
  /** Continues at `untilMs`, or with backoff when it is `null`. `refused`: by the site. */
  | {
      readonly kind: 'wait';
      readonly outcome: 'wait' | 'refused';
      readonly untilMs: number | null;
      readonly detail: string;
    };

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
