import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import type { Lease } from '#platform/postgres/lease/leases.ts';
import type { ShortenedObservation } from './intake/count-shortened.ts';

export type IntakeOutcome = {
  /** 0 without news, or for a part of a scan that has not ended. */
  readonly events: number;
  /** Summed over brands. `null` unless this observation ended and recorded a library scan. */
  readonly totals: ScanTotals | null;
  /** Counts of cut parts. Absent when nothing was cut. */
  readonly shortened?: Readonly<ShortenedObservation>;
};

/** Throws `Refusal` with the failing fields when an observation does not match `contracts/observations`. */
export type Intake = {
  submit(observation: unknown): Promise<IntakeOutcome>;
  /** Validates at once, and submits when the returned function is called. */
  prepare?(observation: unknown): () => Promise<IntakeOutcome>;
};

/** The queue orders concurrent observations by it. */
export type BrandRegister = {
  /** False when unknown. When true, no observation can register the brand again. */
  isBrandRegistered(domain: string): Promise<boolean>;
};

/** The command line submits without a lease. */
export type Leading = {
  /** Each append, and each transaction on the working tables, first proves this lease. */
  leadWith(lease: Lease): void;
};

/** Observations only grow the working tables. */
export type Retention = {
  /** In pages, and between two of them ends on abort. Any number of processes may call it. */
  deleteExpired(signal?: AbortSignal): Promise<void>;
};
