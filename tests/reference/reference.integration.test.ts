import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import { compareWorlds, tellDifferences } from './comparison.ts';
import { type Feature, FEATURES } from './features.ts';
import { expectedFigures } from './model.ts';
import { openService, type ServiceUnderComparison } from './service/service.ts';
import { at, dateOf, link, profile, scan, shown, worldWith } from './sketch.ts';
import { differencesOf } from './story.ts';
import type { World } from './world.ts';

/**
 * REFERENCE_WORLDS=20000 raises the number of worlds, REFERENCE_STAGES=1 compares each at its end only, REFERENCE_SEED
 * changes them, and REFERENCE_STORIES limits the kinds of differences that are shown with a world.
 * REFERENCE_FEATURES=ties,partial;links compares these rows of traits; `each` compares each trait by itself, and `all`
 * all at once.
 */
const settings = readSettings(
  z.object({
    REFERENCE_WORLDS: z.coerce.number().int().positive().default(240),
    REFERENCE_STAGES: z.coerce.number().int().positive().default(5),
    REFERENCE_SEED: z.coerce.number().int().default(20_260_310),
    REFERENCE_STORIES: z.coerce.number().int().min(0).default(3),
    REFERENCE_FEATURES: z.string().default(''),
  }),
);
const LIMIT_MS = 480_000;
const WORLD_LIMIT_MS = 200;

/** One world in 50 is compared once more, with interruptions. Its messages are submitted one after the other. */
const INTERRUPTED_ONE_IN = 50;

/** One world in 20 is compared once more, with its messages as from the queue. */
const QUEUED_ONE_IN = 20;

const without = (...names: readonly Feature[]): readonly Feature[] =>
  FEATURES.filter((feature) => !names.includes(feature));

/** Worlds of `npm test` have all traits of a row at once, and a fault that needs few traits has a short story in a short row. */
const HOLDING: readonly (readonly Feature[])[] = [
  [],
  // One page and one country, so that days a week apart can be compared.
  ['weeks', 'partial', 'ended', 'start-dates', 'collectors', 'ties', 'repeats', 'late-scans'],
  // Copy on one page, so that both collectors show the same ads, in incomplete scans too.
  ['partial', 'ended', 'content', 'blanks', 'framing', 'ties', 'repeats', 'late-scans'],
  without('brands', 'shared-pages', 'moves'),
  without('shared-pages', 'moves', 'destinations', 'unnamed-pages', 'pageless'),
  without('late-scans', 'late-links'),
  without('late-links'),
  FEATURES,
];

const chosen = (): readonly (readonly Feature[])[] => {
  const { REFERENCE_FEATURES } = settings;
  if (REFERENCE_FEATURES === '') return HOLDING;
  if (REFERENCE_FEATURES === 'all') return [FEATURES];
  if (REFERENCE_FEATURES === 'each') return FEATURES.map((feature) => [feature]);
  const rows = REFERENCE_FEATURES.split(';').map((row) => row.split(',').filter((name) => name !== ''));
  return z.array(z.array(z.enum(FEATURES))).parse(rows);
};

/** An ad joins a brand by a late profile, after a late search for another brand (rules 3, 10, 11). */
const JOINED: readonly World[] = [{ stoppedOn: null }, { isActive: null, stoppedOn: at(5).slice(0, 10) }].map(
  (state) =>
    worldWith(
      scan('s2', at(5), [
        shown('a2', { startedOn: at(4).slice(0, 10), link: 'b2.example/a', page: 'P3', ...state }),
      ]),
      scan('s1', at(2), [shown('a1', { page: 'P3' })]),
      profile(at(0), 'b2.example'),
    ),
);

/** A link names a brand that nothing named before; it arrives after all scans, or after those before it (rules 10, 11). */
const NAMED: readonly World[] = [2, 1].map((scans) => {
  const ads = [shown('a1'), shown('a2', { page: 'P2', link: 'b2.example/a' })];
  const both = [2, 5].map((day) => scan(`s${day}`, at(day), ads, { pages: ['P1', 'P2'] }));
  return worldWith(...both.slice(0, scans), link(at(4), 'P1', 'b2.example'), ...both.slice(scans));
});

/** A scan leads an ad from one brand to another. A late scan shows that it was at the former, and a late end of a link follows (rule 9). */
const leadingTo = (to: string) => [shown('a1', { page: null, link: to })];
const LEFT = worldWith(
  profile(at(2), 'b1.example'),
  scan('s2', at(4), leadingTo('b2.example/a'), { brand: 'b2.example', pages: ['P3'] }),
  scan('s1', at(0), leadingTo('b1.example/a'), { brand: 'b2.example', pages: ['P3'], complete: false }),
  link(at(3), 'P3', 'b1.example', { linked: false }),
);

/** Three scans have one time. The last does not show the ad, and the one between the others arrives after it, with other copy (rule 11). */
const TIED: readonly World[] = [[], [shown('a1', { title: 'New arrivals' })]].map((ads) =>
  worldWith(
    scan('s1', at(0), [shown('a1', { title: 'New arrivals' })], { complete: false, pages: [] }),
    scan('s3', at(0), ads),
    scan('s2', at(0), [shown('a1', { title: 'Spring sale' })], { complete: false }),
  ),
);

/** A scan of another brand covers the page of an ad that has ended. A late scan shows that it ran before (rule 1). */
const RAN_BEFORE = worldWith(
  scan('s2', at(0), [shown('a1', { isActive: false })], { pages: [], complete: false }),
  scan('s1', at(5), [], { brand: 'b2.example', countries: ['ALL'] }),
  scan('s4', at(1), [shown('a1', { page: null })], { pages: [], complete: false }),
);

/** The first sighting of an ad comes late. By a later one it leads to a domain that a late profile registers (rules 9, 10). */
const MOVED_AWAY = worldWith(
  scan('s1', at(1), [shown('a1', { page: null, link: 'b2.example/a' })], { pages: ['P3'], complete: false }),
  scan('s5', at(4), [], { brand: 'b3.example', countries: ['ALL'] }),
  scan('s2', at(0), [shown('a1', { link: 'shop.example/b' })], { pages: ['P3'], complete: false }),
  profile(at(3), 'b2.example'),
);

/** A late scan leads an ad back to its first brand. A scan of the brand shows no ad (rules 10, 11). */
const LED_BACK = worldWith(
  scan('s2', at(4), [shown('a1', { link: 'b2.example/a' })], { brand: 'b2.example', pages: [] }),
  profile(at(6), 'b3.example'),
  scan('s1', at(0), [shown('a1', { link: 'b1.example/a' })], { pages: [] }),
  scan('s3', at(5, '07:00'), [shown('a1', { link: 'b3.example/a' })], { pages: ['P3'] }),
  scan('s4', at(5), [], { pages: [], complete: false }),
);

/** A partial scan for another brand names the page of an ad before all others, and arrives last: the ad is news (rules 3, 11). */
const MET_BY_ANOTHER = worldWith(
  scan('s2', at(1), [], { brand: 'b2.example', pages: [] }),
  scan('s3', at(2), [shown()], { brand: 'b2.example', pages: [], complete: false }),
  scan('s1', at(0, '05:00'), [], { complete: false }),
);

/** A late scan leads an ad away from a domain while a profile registers the domain at a time after that scan (rules 10, 11). */
const LED_AWAY_MEANWHILE = worldWith(
  scan('s1', at(0), [shown('a1', { page: 'P3', link: 'shop.b3.example/b' })], { pages: [], complete: false }),
  scan('s3', at(6), [], { brand: 'b3.example', pages: [], complete: false }),
  scan('s2', at(1), [shown('a1', { page: null, link: 'apps.apple.com/c' })], { complete: false }),
  profile(at(2), 'b3.example'),
);

/** A link registers a brand before its profile of an earlier time arrives. Its category is as of the profile. */
const PROFILED_LATE = worldWith(link(at(1), 'P1'), profile(at(0), 'b1.example'));

/**
 * The first search for a brand shows an ad without a page, so the ad is baseline. It arrives last, after a scan for another
 * brand by which the ad leads to a third one (rules 3, 10, 11).
 */
const SEARCHED_FOR_ANOTHER = worldWith(
  profile(at(2, '03:00'), 'b2.example'),
  scan('s02', at(0, '05:00'), [shown('a1', { page: null, startedOn: dateOf(5), countries: [] })], {
    pages: ['P1', 'P3'],
    countries: ['CA'],
  }),
  scan(
    's03',
    at(1, '07:00'),
    [
      shown('a1', { page: null, startedOn: null, countries: ['CA', 'GB'] }),
      shown('a3', {
        page: null,
        startedOn: dateOf(3),
        link: 'b2.example/a',
        countries: ['US', 'CA', 'GB'],
      }),
    ],
    { pages: ['P2', 'P3'], countries: ['CA', 'GB', 'US'] },
  ),
  scan('s01', at(0), [shown('a3', { page: null, startedOn: dateOf(3), countries: [] })], {
    brand: 'b3.example',
    pages: [],
    countries: ['CA', 'GB'],
  }),
);

/** A late scan shows what its collector adds to two ads. A third one missed it, until a later scan by that collector (rules 6, 11). */
const MISSED_SWITCH = worldWith(
  scan('s02', at(0), [shown('a3', { page: null, title: 'Sponsored: New arrivals' })], {
    collector: 'c2',
    pages: [],
  }),
  scan('s04', at(2), [shown('a3', { page: null, title: 'New arrivals' })], { pages: ['P2'] }),
  scan(
    's01',
    at(0, '05:00'),
    [shown('a1', { title: 'Sponsored: Spring sale' }), shown('a4', { title: 'Sponsored: New arrivals' })],
    {
      collector: 'c2',
      pages: ['P3'],
    },
  ),
  scan('s03', at(1), [shown('a1', { title: 'Spring sale' }), shown('a4', { title: 'New arrivals' })], {
    complete: false,
    pages: [],
  }),
);

/** Two scans show an ad as ended with one stop date, or only the first does. A late one between them shows that it ran (rules 1, 11). */
const RAN_BETWEEN: readonly World[] = [dateOf(0), null].flatMap((stoppedOn) =>
  [false, true].map((complete) =>
    worldWith(
      scan('s1', at(0), [shown('a1', { isActive: false, stoppedOn: dateOf(0) })]),
      scan('s3', at(2), [shown('a1', { isActive: false, stoppedOn })], { complete }),
      scan('s2', at(1), [shown()], { complete: false }),
    ),
  ),
);

/**
 * Two scans have one time. The late first of them shows an ad, and the other does not. The ad ends, returns, and is shown once
 * more: then it was last seen.
 */
const SEEN_BEFORE_ABSENCE = worldWith(
  scan('s2', at(0), []),
  scan('s1', at(0), [shown()]),
  scan('s3', at(2), [shown('a1', { isActive: false })], { complete: false }),
  scan('s4', at(5), [shown()]),
  scan('s5', at(6), [shown()]),
);

/**
 * An ad without a page joins another brand when its domain is registered. Two late searches for the first brand meet ads without
 * a page sooner. The later of them does not show this ad, so it is late and not baseline (rules 3, 10, 11).
 */
const SEARCHED_BEFORE_MOVE = worldWith(
  scan('s03', at(1, '07:00'), [shown('a1', { page: null, startedOn: dateOf(-4), link: 'b2.example/b' })], {
    pages: [],
    countries: ['ALL'],
  }),
  scan('s04', at(2, '05:00'), [], { brand: 'b2.example', pages: [] }),
  scan(
    's01',
    at(0, '07:00'),
    [shown('a2', { page: null, isActive: null, startedOn: dateOf(-2), countries: [] })],
    {
      pages: ['P1'],
      countries: ['US'],
    },
  ),
  scan('s05', at(0, '10:00'), [], { pages: [], countries: ['ALL'] }),
);

const DIFFERED = [
  SEARCHED_BEFORE_MOVE,
  SEEN_BEFORE_ABSENCE,
  PROFILED_LATE,
  MISSED_SWITCH,
  ...RAN_BETWEEN,
  ...JOINED,
  ...NAMED,
  LEFT,
  ...TIED,
  RAN_BEFORE,
  MET_BY_ANOTHER,
  ...[MOVED_AWAY, LED_BACK, LED_AWAY_MEANWHILE, SEARCHED_FOR_ANOTHER].map((world) => ({
    ...world,
    brands: [...world.brands, 'b3.example'],
  })),
];

describe('figures of generated worlds equal the reference model', () => {
  const sets = chosen();
  const worlds = Math.ceil(settings.REFERENCE_WORLDS / sets.length);
  const interrupted = Math.ceil(settings.REFERENCE_WORLDS / INTERRUPTED_ONE_IN);
  const queued = Math.ceil(settings.REFERENCE_WORLDS / QUEUED_ONE_IN);
  let service: ServiceUnderComparison;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const expectDifferedEqual = async (compared: ServiceUnderComparison): Promise<void> => {
    const outcomes = await compared.run(DIFFERED.map((world) => [world]));
    const differences = DIFFERED.map((world, index) => {
      const figures = outcomes[index]?.[0]?.figures;
      return figures ? differencesOf(expectedFigures(world), figures) : outcomes[index];
    });
    expect(differences).toEqual(DIFFERED.map(() => []));
  };
  test('also of worlds that differed once', () => expectDifferedEqual(service));

  const expectEqual = async (
    compared: ServiceUnderComparison,
    features: readonly Feature[],
    number: number,
  ): Promise<void> => {
    const { REFERENCE_SEED: seed, REFERENCE_STAGES: stages, REFERENCE_STORIES: stories } = settings;
    const comparison = await compareWorlds(compared, { features, worlds: number, stages, seed });
    const { differing, byFigure } = comparison;
    expect(comparison.worlds).toBe(number);
    const kinds = [...byFigure].map(([kind, places]) => `${kind} ${places.length}`).join(', ');
    const summary = `${differing} of ${number} worlds differ (${kinds}), seed ${seed}`;
    expect(differing, `${summary}\n${tellDifferences(comparison, stories)}\n`).toBe(0);
  };
  const limitOf = (number: number): number => LIMIT_MS + number * WORLD_LIMIT_MS;

  test.each(sets.map((features) => ({ features, name: features.join(', ') || 'no trait' })))(
    `$name, in ${worlds} worlds`,
    { timeout: limitOf(worlds) },
    ({ features }) => expectEqual(service, features, worlds),
  );

  test(`also in ${queued} worlds of the last row, whose messages are submitted as from the queue`, {
    timeout: limitOf(queued),
  }, async () => {
    await using other = await openService({ kind: 'queued' });
    await expectDifferedEqual(other);
    await expectEqual(other, sets.at(-1) ?? [], queued);
  });

  test(`also in ${interrupted} worlds with an intake and projections that are interrupted, and so do rebuilt tables`, {
    timeout: limitOf(interrupted * INTERRUPTED_ONE_IN),
  }, async () => {
    await using other = await openService({ kind: 'interrupted', seed: settings.REFERENCE_SEED });
    await expectEqual(other, sets.at(-1) ?? [], interrupted);
    expect(other.interrupted()).toBeGreaterThan(0);
    const { live, rebuilt } = await other.rebuild();
    expect(Object.keys(live).length).toBeGreaterThan(0);
    expect(rebuilt).toEqual(live);
  });
});
