import type { ScanTotals } from '#contracts/events/corpus/ad-library.ts';

/** What became of an observation. */
export type IntakeOutcome = {
  /** Events appended now. 0: it said nothing new, or is a chunk whose scan has not ended yet. */
  readonly events: number;
  /** For the end of a scan: its totals summed over the brands whose ads it met; `null` when already recorded. */
  readonly totals: ScanTotals | null;
};

/**
 * The one way in for observations, whether they come by NATS or from a file. What does not fit
 * `contracts/observations` is refused with a `Refusal` that says where.
 */
export type Intake = {
  submit(observation: unknown): Promise<IntakeOutcome>;
};

/** What a queue asks before it takes several observations at once. */
export type BrandRegister = {
  /** Whether a brand is registered, so that no observation registers it any more. False where that is not known now. */
  knowsBrand(domain: string): Promise<boolean>;
};
