import { expect, test } from 'vitest';
import { expectedFigures } from './model.ts';
import { at, link, profile, scan, shown, worldWith } from './sketch.ts';
import { differencesOf, tellFailure, tellWorld } from './story.ts';

const world = worldWith(
  profile(at(0, '01:00'), 'b1.example'),
  scan('s2', at(1), [], { complete: false, pages: [], countries: ['ALL'] }),
  scan('s1', at(0), [shown('a1', { link: 'b1.example/a', body: ' ', countries: ['US'] })]),
  link(at(1, '12:00'), 'P1', 'b2.example'),
);

test('the story of a world is chronological and names an arrival out of order', () => {
  expect(tellWorld(world).split('\n')).toEqual([
    'day 0 (2026-03-10) 01:00: brand b1.example has a profile, in Shops > Shoes',
    "day 0 (2026-03-10) 10:00 [arrives as no. 3]: scan s1 for b1.example, complete, pages P1 in US by c1, sees a1 (running, on P1, started 2026-03-10, to b1.example/a, body ' ', runs in US)",
    'day 1 (2026-03-11) 10:00 [arrives as no. 2]: scan s2 for b1.example, partial, no page named in ALL by c1, sees no ad',
    'day 1 (2026-03-11) 12:00: page P1 is linked to b2.example (confidence 0.9)',
  ]);
});

test('equal figures have no differences', () => {
  expect(differencesOf(expectedFigures(world), expectedFigures(world))).toEqual([]);
});

test('a difference names the figure, what is expected and what is shown', () => {
  const expected = expectedFigures(world);
  const { a1, ...others } = expected.ads;
  if (!a1) throw new Error('ad a1 has no figures');
  const actual = { ...expected, ads: { ...others, a1: { ...a1, status: 'missing' as const } } };
  const differences = differencesOf(expected, actual);
  expect(differences).toEqual([{ figure: 'ad a1: status', expected: 'active', actual: 'missing' }]);
  expect(tellFailure(world, differences).split('\n').at(-1)).toBe(
    '  ad a1: status: expected "active", actual "missing"',
  );
});

test('figures that one side lacks are differences', () => {
  const expected = expectedFigures(world);
  const lacking = { ...expected, days: {} };
  expect(differencesOf(expected, lacking).length).toBeGreaterThan(0);
  expect(differencesOf(lacking, expected).length).toBe(differencesOf(expected, lacking).length);
});
