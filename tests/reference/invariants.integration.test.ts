import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { openApiStack } from '../operations/fixtures/stack.ts';
import { untilPassed } from '../stack/read-models.ts';
import { brokenInvariants, rebuildAll } from '../stack/verify-read-models.ts';
import { FEATURES } from './features.ts';
import { place } from './service/placement.ts';
import { at, link, scan, shown, worldWith } from './sketch.ts';
import type { World } from './world.ts';
import { worldArbitrary } from './worlds.ts';

/** A rebuild must yield the same tables. INVARIANT_WORLDS=5000 is the long form, INVARIANT_SEED changes the worlds. */
const SHORT_WORLDS = 8;
const { INVARIANT_WORLDS, INVARIANT_SEED, INVARIANT_FEATURES } = readSettings(
  z.object({
    INVARIANT_WORLDS: z.coerce.number().int().positive().default(SHORT_WORLDS),
    INVARIANT_FEATURES: z.string().default(''),
    INVARIANT_SEED: z.coerce.number().int().default(20_260_310),
  }),
);
const features =
  INVARIANT_FEATURES === '' ? FEATURES : z.array(z.enum(FEATURES)).parse(INVARIANT_FEATURES.split(','));
/** Events that a rebuild applies at once: all of them and few, in the long form also one. Tests of each projection apply one, too. */
const RANGES = [Number.MAX_SAFE_INTEGER, 7, ...(INVARIANT_WORLDS > SHORT_WORLDS ? [1] : [])];
const LIMIT_MS = 300_000 + 30_000 * INVARIANT_WORLDS;

const leading = shown('a1', { link: 'b2.example/a' });
/** Two scans of the same time: the one with the greater id registers the brand to which the ad leads, and shows the ad or not. */
const TIED = [[leading], []].map((ads) => [
  scan('s1', at(1), [leading]),
  scan('s2', at(1), ads, { brand: 'b2.example', pages: ads.length > 0 ? ['P1'] : ['P2'] }),
]);
/** A late scan shows an ad at another brand, until a scan led it here or its page was linked. No event moves the ad. */
const PLACED_LATE = [
  [
    scan('s2', at(5), [leading], { brand: 'b2.example', pages: ['P3'] }),
    scan('s1', at(0), [leading], { pages: ['P3'] }),
  ],
  [
    scan('s2', at(0, '12:00'), [shown()], { brand: 'b2.example', pages: ['P3'] }),
    link(at(2), 'P1', 'b2.example'),
    scan('s1', at(0), [shown()], { pages: ['P3'] }),
  ],
];
/** Worlds that violated an invariant once. In others the scans of one time arrive in the other order. */
const VIOLATED: readonly World[] = [...TIED, ...TIED.map((both) => both.toReversed()), ...PLACED_LATE].map(
  (observations) => worldWith(...observations),
);

describe('generated worlds', () => {
  it(
    'have figures that agree, and tables that a rebuild yields again',
    async () => {
      await using stack = await openApiStack();
      const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
      await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
      const sampled = fc.sample(worldArbitrary(features), {
        numRuns: INVARIANT_WORLDS,
        seed: INVARIANT_SEED,
      });
      const worlds = [...VIOLATED, ...sampled];
      for (const [index, world] of worlds.entries()) {
        const { messagesOf } = place(world, index + 1);
        for (const message of world.observations.flatMap(messagesOf)) await intake.submit(message);
      }
      await untilPassed(stack.pool, await stack.eventStore.head());
      expect(await brokenInvariants(stack.pool)).toEqual([]);
      await stack.stopProjector();
      for (const rangeEvents of RANGES) {
        const { live, rebuilt } = await rebuildAll(stack.pool, stack.eventStore, rangeEvents);
        expect(rebuilt, `in ranges of ${rangeEvents} events`).toEqual(live);
      }
    },
    LIMIT_MS,
  );
});
