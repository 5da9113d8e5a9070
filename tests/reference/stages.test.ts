import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FEATURES } from './features.ts';
import { at, link, profile, scan, shown, worldWith } from './sketch.ts';
import { stagesOf } from './stages.ts';
import { worldArbitrary } from './worlds.ts';

const lengthsOf = (world: Parameters<typeof stagesOf>[0], max: number): number[] =>
  stagesOf(world, max).map(({ observations }) => observations.length);

test('stages begin with a scan and end with the whole world', () => {
  const world = worldWith(
    profile(at(0), 'b1.example'),
    ...[1, 2, 3, 4].map((day) => scan(`s${day}`, at(day), [shown()])),
  );
  expect(lengthsOf(world, 1)).toEqual([5]);
  expect(lengthsOf(world, 2)).toEqual([3, 5]);
  expect(lengthsOf(world, 4)).toEqual([2, 3, 4, 5]);
  expect(lengthsOf(world, 100)).toEqual([2, 3, 4, 5]);
  expect(stagesOf(world, 2).at(-1)).toEqual(world);
});

test('a stage may lack the profile of a linked brand', () => {
  const world = worldWith(
    scan('s1', at(1), [shown()]),
    link(at(2), 'P1', 'b2.example'),
    scan('s2', at(3), [shown()]),
    profile(at(0), 'b2.example'),
  );
  expect(lengthsOf(world, 100)).toEqual([1, 2, 3, 4]);
});

test('each stage of a generated world has the observations of the one before, more of them, and a scan', () => {
  const STAGES = 5;
  for (const world of fc.sample(worldArbitrary(FEATURES), { numRuns: 200, seed: 4 })) {
    const stages = stagesOf(world, STAGES);
    expect(stages.length).toBeLessThanOrEqual(STAGES);
    expect(stages.at(-1)).toEqual(world);
    stages.forEach(({ brands, observations }, index) => {
      const before = stages[index - 1]?.observations ?? [];
      expect(brands).toEqual(world.brands);
      expect(observations.slice(0, before.length)).toEqual(before);
      expect(observations.length).toBeGreaterThan(before.length);
      expect(observations.some(({ kind }) => kind === 'scan')).toBe(true);
    });
  }
});
