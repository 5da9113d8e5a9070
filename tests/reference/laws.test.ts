import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FEATURES } from './features.ts';
import { expectedFigures } from './model.ts';
import type { Scan, World } from './world.ts';
import { worldArbitrary } from './worlds.ts';
import { runs } from '#tests/property-seed.ts';

/** Laws find slips that no example was written for. */

const RUNS = 300;
const worlds = worldArbitrary(FEATURES);
const holds = (law: (world: World) => void): void =>
  fc.assert(fc.property(worlds, law), { numRuns: runs(RUNS) });
const scansOf = ({ observations }: World): Scan[] =>
  [...new Set(observations)].filter((observation) => observation.kind === 'scan');

describe('the reference model', () => {
  test('gives the same figures in every order of arrival and with repetitions', () => {
    const shuffled = worlds.chain((world) =>
      fc.array(fc.constantFrom(...world.observations), { maxLength: 5 }).chain((repeats) =>
        fc
          .shuffledSubarray([...new Set(world.observations), ...repeats], {
            minLength: new Set(world.observations).size + repeats.length,
          })
          .map((observations) => ({ world, again: { ...world, observations } })),
      ),
    );
    fc.assert(
      fc.property(shuffled, ({ world, again }) => {
        expect(expectedFigures(again)).toEqual(expectedFigures(world));
      }),
      { numRuns: runs(RUNS) },
    );
  });

  test('counts each ad once, for the brand that it names', () => {
    holds((world) => {
      const { ads, brands } = expectedFigures(world);
      const shown = new Set(scansOf(world).flatMap((scan) => scan.ads.map(({ ad }) => ad)));
      expect(Object.keys(ads)).toEqual([...shown].toSorted());
      for (const [brand, { active, missing, inactive, total }] of Object.entries(brands)) {
        expect(active + missing + inactive).toBe(total);
        expect(total).toBe(Object.values(ads).filter((ad) => ad.brand === brand).length);
      }
      const totals = Object.values(brands).map(({ total }) => total);
      expect(totals.reduce((sum, total) => sum + total, 0)).toBe(shown.size);
    });
  });

  test('counts each news ad as new on exactly one day of one brand', () => {
    holds((world) => {
      const { ads, days } = expectedFigures(world);
      const news = Object.values(ads).filter(({ novelty }) => novelty === 'news');
      const counted = Object.values(days).reduce((sum, day) => sum + day.new, 0);
      expect(counted).toBe(news.length);
    });
  });

  test('keeps first and last sightings at times at which scans showed the ad', () => {
    holds((world) => {
      for (const [ad, { first_seen, last_seen, inactive_since, status }] of Object.entries(
        expectedFigures(world).ads,
      )) {
        const times = scansOf(world)
          .filter((scan) => scan.ads.some((shown) => shown.ad === ad))
          .map(({ at }) => at);
        expect(first_seen).toBe(times.toSorted()[0]);
        expect(times).toContain(last_seen);
        expect(inactive_since !== null).toBe(status === 'inactive');
        if (inactive_since !== null) expect(inactive_since >= last_seen).toBe(true);
      }
    });
  });

  test('learns nothing about ads from a partial scan that shows none', () => {
    holds((world) => {
      const empty: Scan = {
        ...(scansOf(world)[0] as Scan),
        id: 's99',
        complete: false,
        pages: ['P1'],
        ads: [],
      };
      const figures = expectedFigures(world);
      const withEmpty = expectedFigures({ ...world, observations: [...world.observations, empty] });
      // The scan may name a page before any other does, and so decide from when on searches are looks at it.
      const statuses = (of: typeof figures) =>
        Object.values(of.ads).map(({ status, last_seen, inactive_since }) => [
          status,
          last_seen,
          inactive_since,
        ]);
      expect(statuses(withEmpty)).toEqual(statuses(figures));
    });
  });

  test('marks no ad of a world missing or inactive when none of its scans is complete', () => {
    holds((world) => {
      const observations = world.observations.map((observation) =>
        observation.kind === 'scan'
          ? {
              ...observation,
              complete: false,
              ads: observation.ads.map((ad) => ({ ...ad, isActive: true })),
            }
          : observation,
      );
      const { ads, days } = expectedFigures({ ...world, observations });
      expect(Object.values(ads).filter(({ status }) => status !== 'active')).toEqual([]);
      expect(Object.values(ads).filter(({ novelty }) => novelty !== 'baseline')).toEqual([]);
      expect(Object.values(days).filter(({ reliable }) => reliable)).toEqual([]);
    });
  });

  test('does not depend on the names of scans of different times', () => {
    fc.assert(
      fc.property(worldArbitrary(FEATURES.filter((feature) => feature !== 'ties')), (world) => {
        const renamed = (id: string): string => `s${99 - Number(id.slice(1))}`;
        const observations = world.observations.map((observation) =>
          observation.kind === 'scan' ? { ...observation, id: renamed(observation.id) } : observation,
        );
        expect(expectedFigures({ ...world, observations })).toEqual(expectedFigures(world));
      }),
      { numRuns: runs(RUNS) },
    );
  });
});
