import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signals } from '#projections/signals/project.ts';
import { applyBatch } from '#services/projector/apply/apply-batch.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { openPlannedOnce } from '../dsl/planned-once.ts';
import { type GivenEvent, interleave, openTargets, recorded } from '../dsl/projections.ts';
import { createTestDatabase } from '../stack/database.ts';
import { checksums } from '../stack/read-models.ts';
import { type Launch, type Story, story } from './fixtures/signal-stories.ts';
import { runs } from '#tests/property-seed.ts';

/** Any batch sizes and any interleaving of the streams must give the same tables. */
const HISTORIES = 3;
const BRANDS = 2;
const LINKED_PAGES = ['100000001', '100000002', '100000003'];
const BODIES = ['Words of an ad', 'Our sale is on'];

const launch = fc.record<Launch>({
  count: fc.integer({ min: 1, max: 6 }),
  novelty: fc.constantFrom('baseline', 'news', 'late'),
  format: fc.constantFrom('video', 'image'),
  body: fc.constantFrom(...BODIES),
  link: fc.constantFrom('https://shop.example/a', 'https://shop.example/b'),
  page: fc.constantFrom(...LINKED_PAGES),
  since: fc.constantFrom(-90, 0, 5),
  ended: fc.boolean(),
});
const day = fc.nat(9);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('scan' as const),
      day,
      hour: fc.constantFrom(6, 9),
      reliable: fc.boolean(),
      late: fc.boolean(),
      launches: fc.array(launch, { maxLength: 2 }),
      stops: fc.nat(5),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      day,
      page: fc.constantFrom(...LINKED_PAGES),
      role: fc.constantFrom('OFFICIAL', 'CREATOR', null),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('shop' as const), day, cheaper: fc.nat(3) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const play = (brand: Story, steps: readonly Step[]): readonly GivenEvent[] => {
  for (const one of steps) {
    if (one.kind === 'scan') brand.scan(one.day, one);
    else if (one.kind === 'link') brand.link(one.day, one.page, one.role);
    else brand.shop(one.day, 20, one.cheaper);
  }
  return brand.events;
};

test('signal tables do not depend on batch sizes or the order of streams', async () => {
  const testDatabase = await createTestDatabase();
  const database = openPlannedOnce(testDatabase.url, 4);
  const targets = openTargets(database);
  const build = async (events: readonly GivenEvent[], size: number): Promise<object> => {
    const target = await targets(signals);
    const wanted = recorded(events);
    for (let from = 0; from < wanted.length; from += size) {
      const batch = wanted.slice(from, from + size);
      await applyBatch(database, target, batch, batch.at(-1)?.position ?? 0n);
    }
    return checksums(database, [signals], ['position']);
  };
  try {
    await createProjectorTables(database);
    const histories = fc.array(fc.array(step, { minLength: 6, maxLength: 14 }), {
      minLength: BRANDS,
      maxLength: BRANDS,
    });
    const picks = fc.array(fc.nat(6), { minLength: 5, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(histories, picks, fc.integer({ min: 2, max: 12 }), async (lives, turns, size) => {
        const events = lives.flatMap((steps, n) => play(story(`law-${n}.example`, n), steps));
        const whole = await build(events, Number.POSITIVE_INFINITY);
        expect(await build(interleave(events, turns), size)).toEqual(whole);
      }),
      { numRuns: runs(HISTORIES) },
    );
  } finally {
    await database.end();
    await testDatabase.drop();
  }
});
