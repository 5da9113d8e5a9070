import type { Observation } from '#contracts/observations/index.ts';

/** Result of reading a target for now. */
export type ReadOutcome =
  /** Observations to publish. The batch is at its end. */
  | {
      readonly kind: 'read';
      readonly observations: readonly Observation[];
      readonly outcome: 'complete' | 'partial';
      readonly detail: string;
    }
  /** There is nothing to observe. The target is read again when due, and not before `notBeforeMs`. */
  | {
      readonly kind: 'nothing';
      readonly outcome: string;
      readonly detail: string;
      readonly notBeforeMs: number | null;
    }
  /** The batch goes on later: at `untilMs`, or after a growing delay when it is `null`. `refused`: by the site. */
  | {
      readonly kind: 'wait';
      readonly outcome: 'wait' | 'refused';
      readonly untilMs: number | null;
      readonly detail: string;
    };
