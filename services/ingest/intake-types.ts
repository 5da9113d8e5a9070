import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import type { Lease } from '#platform/postgres/lease/prove-lease.ts';
import type { ShortenedObservation } from './intake/count-shortened.ts';

/** Result of submitting an observation. */
export type IntakeOutcome = {
  /** Number of events appended. 0 when the observation has no news, or is a part of a scan that has not ended. */
  readonly events: number;
  /** Totals of a library scan, summed over its brands. `null` unless this observation ended and recorded the scan. */
  readonly totals: ScanTotals | null;
  /** Counts of the parts that were cut to bring the observation within its limits. Absent when nothing was cut. */
  readonly shortened?: Readonly<ShortenedObservation>;
};

/**
 * Accepts observations from NATS and from files. Throws `Refusal` with the failing fields when an observation does not
 * match `contracts/observations`.
 */
export type Intake = {
  submit(observation: unknown): Promise<IntakeOutcome>;
};

/** Lookup of registered brands. The queue uses it to order concurrent observations. */
export type BrandRegister = {
  /** Returns true when the brand is registered, so no observation can register it again. False when unknown. */
  isBrandRegistered(domain: string): Promise<boolean>;
};

/** Work under the lease of the queue. The command line submits without one. */
export type Leading = {
  /** From now on each attempt to append, and each transaction on the working tables, proves this lease first. */
  leadWith(lease: Lease): void;
};

/** Deletes what the working tables need no more. Observations only grow them. */
export type Retention = {
  /**
   * Deletes staged parts of abandoned scans, and old digests, in pages. Ends after a page when the signal is aborted. Any
   * number of processes may call it.
   */
  deleteExpired(signal?: AbortSignal): Promise<void>;
};
