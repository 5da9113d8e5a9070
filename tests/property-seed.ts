import fc from 'fast-check';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/**
 * Gives all property tests the same seed, so that two runs of `npm test` draw the same values. `npm run trials` draws
 * others, and more of them.
 */
const DEFAULT_SEED = 20_261_122;
/** Runs of a property test that does not name a number, as in fast-check. */
const DEFAULT_RUNS = 100;

const { PROPERTY_SEED, PROPERTY_RUNS } = readSettings(
  z.object({
    PROPERTY_SEED: z.coerce.number().int().default(DEFAULT_SEED),
    PROPERTY_RUNS: z.coerce.number().int().min(1).default(1),
  }),
);

/** Returns the number of runs of a property test: `count`, times PROPERTY_RUNS. */
export const runs = (count: number): number => count * PROPERTY_RUNS;

/** Returns the time limit of a property test in milliseconds, for its number of runs. */
export const limitMs = (ms: number): number => ms * PROPERTY_RUNS;

/** Returns the seed of a test that has its own: `own`, and another one for each other PROPERTY_SEED. */
export const seedOf = (own: number): number => (PROPERTY_SEED === DEFAULT_SEED ? own : own ^ PROPERTY_SEED);

fc.configureGlobal({ seed: PROPERTY_SEED, numRuns: runs(DEFAULT_RUNS) });
