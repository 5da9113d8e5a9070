import fc from 'fast-check';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/**
 * Gives all property tests the same seed, so that two runs of `npm test` draw the same values. `npm run trials` draws
 * others.
 */
const { PROPERTY_SEED } = readSettings(
  z.object({ PROPERTY_SEED: z.coerce.number().int().default(20_261_122) }),
);

fc.configureGlobal({ seed: PROPERTY_SEED });
