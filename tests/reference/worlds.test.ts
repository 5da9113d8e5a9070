import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Observation } from '#contracts/observations/index.ts';
import { type Feature, FEATURES } from './features.ts';
import { expectedFigures } from './model.ts';
import { scansOf as knownScansOf } from './model/observations.ts';
import { place } from './service/placement.ts';
import type { PageLink, Scan, ShownAd, World } from './world.ts';
import { worldArbitrary } from './worlds.ts';

const WORLDS = 200;
const SEED = 2;
const sample = (features: readonly Feature[], worlds = WORLDS): World[] =>
  fc.sample(worldArbitrary(features), { numRuns: worlds, seed: SEED });

const scansOf = ({ observations }: World): Scan[] =>
  [...new Set(observations)].filter((observation) => observation.kind === 'scan');
const linksOf = ({ observations }: World): PageLink[] =>
  observations.filter((observation) => observation.kind === 'link');
const shownOf = (world: World): ShownAd[] => scansOf(world).flatMap(({ ads }) => ads);
const varies = (world: World, valueOf: (ad: ShownAd) => string | null | undefined): boolean => {
  const byAd = Map.groupBy(shownOf(world), ({ ad }) => ad);
  return [...byAd.values()].some((ads) => new Set(ads.map(valueOf)).size > 1);
};
const isBefore = (time: string, other: string | undefined): boolean => other !== undefined && time < other;
const firstScan = (world: World): string | undefined =>
  scansOf(world)
    .map(({ at }) => at)
    .toSorted()[0];
const isInOrder = (times: readonly string[]): boolean =>
  times.every((time, index) => index === 0 || time >= (times[index - 1] ?? ''));
const brandOfLink = ({ link }: ShownAd): string | undefined => /b\d\.example/.exec(link ?? '')?.[0];

/** Whether a world has a trait. Some traits, such as several pages, are also part of others. */
const HAS: Readonly<Record<Feature, (world: World) => boolean>> = {
  weeks: (world) => {
    const times = scansOf(world).map(({ at }) => Date.parse(at));
    return Math.max(...times) - Math.min(...times) >= 7 * 86_400_000;
  },
  partial: (world) => scansOf(world).some(({ complete }) => !complete),
  ended: (world) =>
    shownOf(world).some(({ isActive, stoppedOn }) => isActive === false || stoppedOn !== null),
  countries: (world) => new Set(scansOf(world).flatMap(({ countries }) => countries)).size > 1,
  'several-countries-at-once': (world) => scansOf(world).some(({ countries }) => countries.length > 1),
  'all-countries': (world) => scansOf(world).some(({ countries }) => countries.includes('ALL')),
  'ad-countries': (world) => shownOf(world).some(({ countries }) => countries !== undefined),
  pages: (world) => new Set(shownOf(world).map(({ page }) => page)).size > 1,
  'unnamed-pages': (world) =>
    scansOf(world).some(({ ads, pages }) => ads.some(({ page }) => page !== null && !pages.includes(page))),
  pageless: (world) => shownOf(world).some(({ page }) => page === null),
  brands: (world) => new Set(scansOf(world).map(({ brand }) => brand)).size > 1,
  'shared-pages': (world) => {
    const scanned = scansOf(world).flatMap(({ pages, brand }) => pages.map((page) => `${page} ${brand}`));
    const pages = [...new Set(scanned)].map((pair) => pair.split(' ')[0]);
    return new Set(pages).size < pages.length;
  },
  links: (world) => linksOf(world).length > 0,
  'changing-links': (world) => linksOf(world).some(({ at }) => at >= (firstScan(world) ?? at)),
  'links-within-days': (world) => {
    const times = scansOf(world).map(({ at }) => at);
    return linksOf(world).some(({ at }) =>
      times.some((time) => time.slice(0, 10) === at.slice(0, 10) && time < at),
    );
  },
  destinations: (world) => shownOf(world).some((ad) => brandOfLink(ad) !== undefined),
  moves: (world) => varies(world, brandOfLink),
  'late-registration': (world) =>
    world.observations.some(({ kind, at }) => kind === 'profile' && isBefore(firstScan(world) ?? at, at)),
  'renewed-profiles': (world) => {
    const profiled = world.observations.filter(({ kind }) => kind === 'profile').map(({ brand }) => brand);
    return new Set(profiled).size < profiled.length;
  },
  content: (world) => varies(world, ({ body }) => body),
  captions: (world) => varies(world, ({ caption }) => caption),
  blanks: (world) => shownOf(world).some(({ startedOn }) => startedOn === null),
  'start-dates': (world) => varies(world, ({ startedOn }) => startedOn),
  collectors: (world) => new Set(scansOf(world).map(({ collector }) => collector)).size > 1,
  framing: (world) => shownOf(world).some(({ body }) => /Sponsored|Shop|SHOES/.test(body ?? '')),
  ties: (world) => new Set(scansOf(world).map(({ at }) => at)).size < scansOf(world).length,
  repeats: (world) => new Set(world.observations).size < world.observations.length,
  'late-scans': (world) => !isInOrder(scansOf(world).map(({ at }) => at)),
  'late-links': (world) =>
    !isInOrder(world.observations.filter(({ kind }) => kind !== 'scan').map(({ at }) => at)),
};
const NEEDS: Partial<Record<Feature, readonly Feature[]>> = {
  'links-within-days': ['changing-links'],
  'late-links': ['links', 'late-registration', 'changing-links'],
};
const SHARE_MIN = 0.03;

describe('generated worlds', () => {
  const withNone = sample([]);
  const withAll = sample(FEATURES);
  test.each(FEATURES)('have the trait %s when it is switched on, and not when all are off', (feature) => {
    const shareOf = (features: readonly Feature[]): number =>
      sample(features).filter(HAS[feature]).length / WORLDS;
    expect(shareOf([feature, ...(NEEDS[feature] ?? [])])).toBeGreaterThan(SHARE_MIN);
    expect(withNone.filter(HAS[feature])).toEqual([]);
    expect(withAll.filter(HAS[feature]).length / WORLDS).toBeGreaterThan(SHARE_MIN);
  });

  test.each([
    ['the plainest', withNone],
    ['those with all traits', withAll],
  ])('reach every state of an ad and a day: %s', (_, worlds) => {
    const figures = worlds.map(expectedFigures);
    const ads = figures.flatMap((one) => Object.values(one.ads));
    const days = figures.flatMap((one) => Object.values(one.days));
    for (const status of ['active', 'missing', 'inactive'] as const)
      expect(ads.filter((ad) => ad.status === status).length, status).toBeGreaterThan(WORLDS * SHARE_MIN);
    for (const novelty of ['baseline', 'news', 'late'] as const)
      expect(ads.filter((ad) => ad.novelty === novelty).length, novelty).toBeGreaterThan(WORLDS * SHARE_MIN);
    for (const field of ['new', 'retired', 'active'] as const)
      expect(days.filter((day) => day[field] > 0).length, field).toBeGreaterThan(WORLDS * SHARE_MIN);
    expect(days.filter(({ reliable }) => reliable).length).toBeGreaterThan(WORLDS * SHARE_MIN);
  });

  test('are the same for the same seed', () => {
    expect(sample(FEATURES, 20)).toEqual(sample(FEATURES, 20));
  });

  test('are placed as valid observations, apart from worlds placed before', () => {
    const ids = new Set<string>();
    const features = FEATURES.filter((feature) => feature !== 'ad-countries');
    for (const [number, world] of sample(features, 50).entries()) {
      const placement = place(world, number + 1);
      const own = new Set<string>();
      // The contract takes out dates that the model does not know either.
      const scans = new Map(knownScansOf(world).map((scan) => [scan.id, scan]));
      for (const observation of world.observations)
        for (const message of placement.messagesOf(
          (observation.kind === 'scan' && scans.get(observation.id)) || observation,
        )) {
          expect(Observation.parse(message)).toEqual(message);
          if (message.type === 'ad_library.scan') for (const { ad_id } of message.ads) own.add(ad_id);
          if ('scan_id' in message) own.add(message.scan_id);
          if ('domain' in message) own.add(message.domain);
        }
      expect(own.intersection(ids).size).toBe(0);
      for (const id of own) ids.add(id);
    }
  });

  test('keep the order of brand ids and scan ids when they are placed', () => {
    for (const [number, world] of sample(FEATURES, 50).entries()) {
      const placement = place(world, number + 1);
      const brandIds = world.brands.map(placement.brandIdOf);
      expect(brandIds).toEqual(brandIds.toSorted());
      const scanIds = scansOf(world)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .flatMap((scan) => {
          const end = placement.messagesOf(scan).at(-1);
          return end && 'scan_id' in end ? [end.scan_id] : [];
        });
      expect(scanIds).toEqual(scanIds.toSorted());
    }
  });
});
