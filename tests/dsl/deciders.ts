import { expect } from 'vitest';
import { type ErrorCode, Refusal } from '#contracts/errors.ts';
import type { Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';

/**
 * `given(decider, ...events).when(decision).records(...events)` or `.refuses(code)`. `records` decides again on the
 * state after the recorded events and expects no more: a command that arrives twice is recorded once.
 */
export const given = <State, F extends Event>(
  decider: Decider<State, F>,
  ...events: readonly NoInfer<F>[]
) => ({
  when: (decision: (state: State) => readonly F[]) => {
    const before = events.reduce(decider.evolve, decider.initial);
    return {
      records: (...expected: readonly F[]): void => {
        const recorded = decision(before);
        expect(recorded).toEqual(expected);
        expect(decision(recorded.reduce(decider.evolve, before)), 'decided again').toEqual([]);
      },
      refuses: (code: ErrorCode): void => {
        let refusal: unknown;
        try {
          decision(before);
        } catch (error) {
          refusal = error;
        }
        expect(refusal, 'a refusal').toBeInstanceOf(Refusal);
        expect((refusal as Refusal).code).toBe(code);
      },
    };
  },
});
