import type { Observation } from '#contracts/observations/index.ts';

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
