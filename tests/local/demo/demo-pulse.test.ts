import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Observation } from '#contracts/observations/index.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { adIdOf } from '#deploy/local/demo/generators/ad-content.ts';
import { liveScanOf } from '#deploy/local/demo/generators/scans.ts';
import {
  LAUNCH_ADS,
  LISTED_INACTIVE_PULSES,
  type Pulse,
  type PulseAd,
  pulseAdsAt,
} from '#deploy/local/demo/world/pulse.ts';
import { buildWorld, busiestBrands, type DemoBrand } from '#deploy/local/demo/world/world.ts';
import { library } from '#tests/dsl/scans.ts';

/** Random cases of each property: enough for every brand, and under a second. */
const RUNS = 6;

const FIRST_DAY_MS = Date.parse('2026-01-01T00:00:00.000Z');
const SIZE = { seed: 7, brands: 12, ads: 240, days: 60 };
const WORLD = buildWorld(SIZE);
const BRANDS = busiestBrands(WORLD, 4);
const [STEADY, LAUNCHING] = [BRANDS.slice(0, 2), BRANDS.slice(2)];
const PULSE: Pulse = {
  seed: SIZE.seed,
  brands: STEADY.map(({ index }) => index),
  launching: LAUNCHING.map(({ index }) => index),
  everyMs: 3 * MINUTE_MS,
  fromMs: 0,
  openings: [],
};

/** Any time from the second corpus day to a year later, and pulses from a second to the default. */
const times = fc.integer({ min: FIRST_DAY_MS + DAY_MS, max: FIRST_DAY_MS + 365 * DAY_MS });
const pulses = fc
  .integer({ min: 1, max: 180 })
  .map((seconds) => ({ ...PULSE, everyMs: seconds * SECOND_MS }));

const scanAt = (timeMs: number, pulse: Pulse = PULSE, brand = BRANDS[0] as DemoBrand): Observation[] => [
  ...liveScanOf(WORLD, pulse, brand, FIRST_DAY_MS, timeMs),
];
const adsAt = (timeMs: number, pulse: Pulse = PULSE, brand?: DemoBrand): ObservedAd[] =>
  adsOf(scanAt(timeMs, pulse, brand));

describe('the pulse of the demo', () => {
  test('gives the same scan at a time, independent of earlier scans', () => {
    fc.assert(
      fc.property(times, fc.array(times, { maxLength: 3 }), pulses, (timeMs, others, pulse) => {
        const before = JSON.stringify(scanAt(timeMs, pulse));
        for (const other of others) scanAt(other, pulse);
        expect(JSON.stringify(liveOfNewWorld(timeMs, pulse))).toBe(before);
      }),
      { numRuns: RUNS },
    );
  });

  test('dates nothing after the time, and fits the contracts', () => {
    fc.assert(
      fc.property(times, pulses, fc.constantFrom(...BRANDS), (timeMs, pulse, brand) => {
        const today = utcDateOfMs(timeMs);
        for (const part of scanAt(timeMs, pulse, brand))
          expect(isDeepStrictEqual(Observation.parse(part), part)).toBe(true);
        for (const { started_on, stopped_on } of adsAt(timeMs, pulse, brand)) {
          expect((started_on ?? '') <= today).toBe(true);
          expect((stopped_on ?? '') <= today).toBe(true);
        }
        for (const { startsMs } of pulseAdsAt(pulse, timeMs)) expect(startsMs).toBeLessThanOrEqual(timeMs);
      }),
      { numRuns: RUNS },
    );
  });

  test('keeps the times of an ad at any later time, until the library drops it', () => {
    fc.assert(
      fc.property(times, pulses, fc.integer({ min: 0, max: 700 }), (timeMs, pulse, later) => {
        const laterMs = timeMs + later * pulse.everyMs;
        const then = new Map([...pulseAdsAt(pulse, laterMs)].map((ad) => [ad.ad, ad]));
        for (const ad of pulseAdsAt(pulse, timeMs)) {
          const listed = laterMs < ad.endsMs + LISTED_INACTIVE_PULSES * pulse.everyMs;
          expect(isDeepStrictEqual(then.get(ad.ad), listed ? ad : undefined)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('starts one ad every three minutes, and twelve of one brand every thirty', () => {
    const fromMs = FIRST_DAY_MS + 70 * DAY_MS;
    const untilMs = fromMs + 6 * 60 * MINUTE_MS;
    const started = [...pulseAdsAt(PULSE, untilMs - 1)].filter(({ startsMs }) => startsMs >= fromMs);
    expect(started.filter(({ isLaunch }) => !isLaunch)).toHaveLength(120);
    const launches = Map.groupBy(
      started.filter(({ isLaunch }) => isLaunch),
      ({ startsMs }) => startsMs,
    );
    expect([...launches.keys()].map((ms) => (ms - fromMs) / MINUTE_MS)).toEqual(
      Array.from({ length: 12 }, (_, nth) => nth * 30),
    );
    for (const ads of launches.values()) {
      expect(ads).toHaveLength(LAUNCH_ADS);
      expect(new Set(ads.map(({ brand }) => brand)).size).toBe(1);
    }
    const single = started.filter(({ isLaunch }) => !isLaunch);
    expect(new Set(single.map(({ brand }) => brand))).toEqual(new Set(PULSE.brands));
    expect(new Set(started.map(({ ad }) => ad)).size).toBe(started.length);
  });

  test('launches at another brand each day, and never at one whose ads start one by one', () => {
    const launchersOn = (day: number): Set<number> => {
      const endMs = FIRST_DAY_MS + (day + 1) * DAY_MS - 1;
      const launched = [...pulseAdsAt(PULSE, endMs)].filter(
        ({ isLaunch, startsMs }) => isLaunch && startsMs > endMs - DAY_MS,
      );
      return new Set(launched.map(({ brand }) => brand));
    };
    const days = [70, 71, 72, 73].map(launchersOn);
    for (const brands of days) expect(brands.size).toBe(1);
    expect(days[1]).not.toEqual(days[0]);
    expect(new Set(days.flatMap((brands) => [...brands]))).toEqual(new Set(PULSE.launching));
  });

  test('starts nothing before its first scan, and a launch at each opening', () => {
    const fromMs = FIRST_DAY_MS + 70 * DAY_MS + 6 * MINUTE_MS;
    const openingMs = fromMs + 7 * SECOND_MS;
    const pulse = { ...PULSE, fromMs, openings: [openingMs] };
    expect([...pulseAdsAt(pulse, fromMs)]).toEqual([]);
    expect([...pulseAdsAt(pulse, openingMs - 1)]).toEqual([]);
    const launched = [...pulseAdsAt(pulse, openingMs)];
    expect(launched).toHaveLength(LAUNCH_ADS);
    expect(new Set(launched.map(({ startsMs }) => startsMs))).toEqual(new Set([openingMs]));
    expect(new Set(launched.map(({ ad }) => ad)).size).toBe(LAUNCH_ADS);
    const later = [...pulseAdsAt(pulse, fromMs + 3 * MINUTE_MS)];
    expect(later.map(({ isLaunch }) => isLaunch).filter((isLaunch) => !isLaunch)).toHaveLength(1);
    // The opening falls into the second of a launch of the pulse.
    const together = { ...PULSE, openings: [FIRST_DAY_MS + 70 * DAY_MS] };
    const ids = [...pulseAdsAt(together, FIRST_DAY_MS + 70 * DAY_MS)].map(({ ad }) => ad);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('ends an ad after 20 to 180 minutes, and lists it as inactive for a day', () => {
    const ads = [...pulseAdsAt(PULSE, FIRST_DAY_MS + 70 * DAY_MS)];
    for (const { startsMs, endsMs } of ads) {
      expect(endsMs - startsMs).toBeGreaterThanOrEqual(20 * MINUTE_MS);
      expect(endsMs - startsMs).toBeLessThanOrEqual(180 * MINUTE_MS);
    }
    const { startsMs, endsMs, ad } = ads.at(-1) as PulseAd;
    const brand = ownerOf(ads.at(-1) as PulseAd);
    const shown = (timeMs: number) =>
      adsAt(timeMs, PULSE, brand).find(({ ad_id }) => ad_id === adIdOf(SIZE.seed, ad));
    expect(shown(startsMs - 1)).toBeUndefined();
    expect(shown(startsMs)).toMatchObject({ is_active: true, stopped_on: null });
    expect(shown(endsMs - 1)).toMatchObject({ is_active: true, stopped_on: null });
    expect(shown(endsMs)).toMatchObject({ is_active: false, stopped_on: utcDateOfMs(endsMs) });
    expect(shown(endsMs + DAY_MS - 1)).toMatchObject({ is_active: false });
    expect(shown(endsMs + DAY_MS)).toBeUndefined();
  });

  test('moves the links of some ads while they run, and no other field', () => {
    const moving = [...pulseAdsAt(PULSE, FIRST_DAY_MS + 70 * DAY_MS)].filter(
      ({ linkChangesMs }) => linkChangesMs !== null,
    );
    expect(moving.length).toBeGreaterThan(20);
    for (const ad of moving.slice(0, 5)) {
      const changesMs = ad.linkChangesMs as number;
      const [before, after] = [changesMs - 1, changesMs].map((timeMs) =>
        adsAt(timeMs, PULSE, ownerOf(ad)).find(({ ad_id }) => ad_id === adIdOf(SIZE.seed, ad.ad)),
      );
      expect(after?.link_url).not.toBe(before?.link_url);
      expect({ ...after, link_url: null, cards: [], versions: [] }).toEqual({
        ...before,
        link_url: null,
        cards: [],
        versions: [],
      });
    }
  });

  test('shows the corpus alone when nothing starts', () => {
    const timeMs = FIRST_DAY_MS + 70 * DAY_MS + 9 * 60 * MINUTE_MS;
    const still = { ...PULSE, everyMs: 0 };
    expect([...pulseAdsAt(still, timeMs)]).toEqual([]);
    expect(adsAt(timeMs, still)).toEqual(adsAt(timeMs + 60 * MINUTE_MS, still));
    expect(adsAt(timeMs, still).length).toBeGreaterThan(0);
    expect(adsAt(timeMs).length).toBeGreaterThan(adsAt(timeMs, still).length);
  });

  test('has each ad once in a scan, with an id of its own', () => {
    for (const brand of BRANDS) {
      const ids = adsAt(FIRST_DAY_MS + 70 * DAY_MS, PULSE, brand).map(({ ad_id }) => ad_id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
});

describe('an ad library that is scanned every five minutes', () => {
  test('records each start, end and link change of the pulse once', () => {
    const brand = BRANDS.find(({ collector }) => collector === 'web') as DemoBrand;
    const baselineMs = FIRST_DAY_MS + 70 * DAY_MS + 6 * HOUR_MS;
    const endMs = baselineMs + 4 * HOUR_MS;
    const shop = library();
    const recorded: AdLibraryEvent[] = [];
    for (let timeMs = baselineMs; timeMs <= endMs; timeMs += 5 * MINUTE_MS) {
      const parts = scanAt(timeMs, PULSE, brand);
      const end = parts.find((part) => part.type === 'ad_library.scan_end');
      const pages = end?.coverage.pages.map(({ page_id }) => page_id) ?? [];
      const events = shop.scan({ at: new Date(timeMs).toISOString(), pages }, adsOf(parts));
      if (timeMs > baselineMs) recorded.push(...events);
    }
    const idsOf = (type: string): string[] =>
      recorded.flatMap((event) => (event.type === type && 'ad_id' in event.data ? [event.data.ad_id] : []));
    const expected = (select: (ad: PulseAd) => boolean): Set<string> =>
      new Set(
        [...pulseAdsAt(PULSE, endMs)]
          .filter((ad) => ad.brand === brand.index && select(ad))
          .map(({ ad }) => adIdOf(SIZE.seed, ad)),
      );
    const isWithin = (ms: number | null): boolean => ms !== null && ms > baselineMs && ms <= endMs;
    for (const [type, select] of [
      ['AdStarted', ({ startsMs }) => isWithin(startsMs)],
      ['AdConfirmedInactive', ({ endsMs }) => isWithin(endsMs)],
      [
        'AdDestinationChanged',
        ({ startsMs, linkChangesMs }) => seenBefore(startsMs, linkChangesMs, isWithin),
      ],
    ] as const satisfies readonly (readonly [string, (ad: PulseAd) => boolean])[]) {
      expect(idsOf(type).toSorted(), type).toEqual([...expected(select)].toSorted());
      expect(idsOf(type).length, type).toBeGreaterThan(2);
    }
  });
});

/** Whether a scan every five minutes shows the ad before its link changes. */
const seenBefore = (startsMs: number, changesMs: number | null, isWithin: (ms: number | null) => boolean) =>
  isWithin(changesMs) &&
  Math.ceil(startsMs / (5 * MINUTE_MS)) < Math.ceil((changesMs as number) / (5 * MINUTE_MS));

const adsOf = (parts: readonly Observation[]): ObservedAd[] =>
  parts.flatMap((part) => (part.type === 'ad_library.scan' ? part.ads : []));

const liveOfNewWorld = (timeMs: number, pulse: Pulse): Observation[] => [
  ...liveScanOf(buildWorld(SIZE), pulse, BRANDS[0] as DemoBrand, FIRST_DAY_MS, timeMs),
];

const ownerOf = ({ brand }: PulseAd): DemoBrand => WORLD.brandList[brand] as DemoBrand;
