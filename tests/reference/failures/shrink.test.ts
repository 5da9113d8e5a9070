import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FEATURES } from '../features.ts';
import { expectedFigures } from '../model.ts';
import { shrink } from './shrink.ts';
import { at, link, profile, scan, shown, worldWith } from '../sketch.ts';
import type { World } from '../world.ts';
import { worldArbitrary } from '../worlds.ts';

const each =
  (differs: (world: World) => boolean) =>
  (worlds: readonly World[]): Promise<boolean[]> =>
    Promise.resolve(worlds.map(differs));

describe('a differing world shrinks', () => {
  test('to the observations, ads, pages and countries that the difference needs', async () => {
    const seen = scan('s1', at(0), [shown('a1', { body: 'x' }), shown('a2')], {
      pages: ['P1', 'P2'],
      countries: ['CA', 'US'],
    });
    const unseen = scan('s2', at(1), [shown('a2')], { countries: ['CA', 'US'] });
    const isMissing = (one: World): boolean => expectedFigures(one).ads['a1']?.status === 'missing';
    const smallest = await shrink(
      worldWith(unseen, link(at(0, '01:00'), 'P1'), seen, profile(at(0), 'b2.example'), seen),
      each(isMissing),
    );
    expect(isMissing(smallest)).toBe(true);
    expect(smallest.brands).toEqual(['b1.example']);
    expect(smallest.observations).toEqual([
      scan('s1', at(0), [shown('a1')], { pages: ['P2'], countries: ['US'] }),
      scan('s2', at(1), []),
    ]);
  });

  test('to chronological order when the order does not matter', async () => {
    const world = worldWith(
      scan('s2', at(1), [shown('a1', { startedOn: null })]),
      scan('s1', at(0), [shown()]),
    );
    const smallest = await shrink(
      world,
      each((one) => expectedFigures(one).ads['a1']?.first_seen === at(0) && one.observations.length === 2),
    );
    expect(smallest.observations.map(({ at: time }) => time)).toEqual([at(0), at(1)]);
  });

  test('keeps its difference in every step, and only loses parts', async () => {
    const late = (world: World): boolean =>
      Object.values(expectedFigures(world).ads).some(({ novelty }) => novelty === 'late');
    const worlds = fc.sample(worldArbitrary(FEATURES), { numRuns: 100, seed: 3 }).filter(late);
    expect(worlds.length).toBeGreaterThan(3);
    for (const world of worlds) {
      const smallest = await shrink(world, each(late));
      expect(late(smallest)).toBe(true);
      // A look at the page and the scan that shows the ad; for searches, a third one that met the page.
      expect(smallest.observations.length).toBeLessThanOrEqual(3);
      expect(smallest.brands.every((brand) => world.brands.includes(brand))).toBe(true);
    }
  });
});
