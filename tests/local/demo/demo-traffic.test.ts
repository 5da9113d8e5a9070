import { describe, expect, test } from 'vitest';
import { AUDIENCE_SEGMENTS, segmentsOf } from '#contracts/values/audience-segments.ts';
import { Observation } from '#contracts/observations/index.ts';
import { traffic } from '#deploy/local/demo/generators/traffic.ts';
import { buildWorld } from '#deploy/local/demo/world/world.ts';

const FIRST_DAY_MS = Date.parse('2026-01-15T00:00:00.000Z');
const world = buildWorld({ seed: 7, brands: 40, ads: 400, days: 60 });
const observations = [...traffic(world, FIRST_DAY_MS)];
const estimates = observations.filter((one) => one.type === 'traffic.estimate');

describe('the demo corpus of traffic', () => {
  test('is the same each time and fits the contracts', () => {
    expect([...traffic(world, FIRST_DAY_MS)]).toEqual(observations);
    for (const observation of observations) expect(Observation.parse(observation)).toEqual(observation);
  });

  test('has months, countries, demographics and similar sites for every brand', () => {
    for (const { domain, country } of world.brandList) {
      const own = estimates.filter((one) => one.domain === domain);
      expect(own.map(({ period }) => period)).toEqual([
        '2025-09',
        '2025-10',
        '2025-11',
        '2025-12',
        '2026-01',
        '2026-02',
      ]);
      const latest = own.at(-1);
      expect(latest?.countries?.[0]).toMatchObject({ country });
      expect(latest?.countries?.length).toBeGreaterThan(2);
      expect(latest?.similar_sites?.length).toBeGreaterThan(3);
      expect(latest?.demographics?.female).toBeGreaterThan(0);
    }
  });

  test('dates every estimate after its month and within the days of the corpus', () => {
    const untilMs = FIRST_DAY_MS + world.days * 86_400_000;
    for (const { period, observed_at } of estimates) {
      expect(observed_at.slice(0, period.length) > period).toBe(true);
      expect(Date.parse(observed_at)).toBeGreaterThanOrEqual(FIRST_DAY_MS);
      expect(Date.parse(observed_at)).toBeLessThan(untilMs);
    }
    expect(estimates.some(({ observed_at }) => Date.parse(observed_at) > untilMs - 20 * 86_400_000)).toBe(
      true,
    );
  });

  test('has a brand in every audience segment', () => {
    const found = new Set(
      estimates.flatMap(({ demographics }) => (demographics ? segmentsOf(demographics) : [])),
    );
    expect([...found].toSorted()).toEqual(Object.keys(AUDIENCE_SEGMENTS).toSorted());
  });

  test('defines every category of its brands, on three levels', () => {
    const defined = new Set(
      observations.flatMap((one) => (one.type === 'category.define' ? [one.path.join('>')] : [])),
    );
    for (const { categoryPath } of world.brandList) {
      for (const level of [1, 2, 3]) expect(defined).toContain(categoryPath.slice(0, level).join('>'));
    }
  });
});
