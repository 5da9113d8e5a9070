import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import type {
  AdLibraryScanChunk,
  AdLibraryScanEnd,
  ObservedAd,
} from '#contracts/observations/ad-library-scan.ts';
import { Observation, OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { type CorpusOptions, demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { busiestBrands, buildWorld } from '#deploy/local/demo/world/world.ts';

const OPTIONS: CorpusOptions = { seed: 7, brands: 40, ads: 4_000, days: 60, until: '2026-03-01' };

/** Time limit in ms of a case over the whole corpus: 1.5 s on an idle machine, seven on one with a load of 14. */
const GENERATES = { timeout: 40_000 } as const;

/** A corpus that is generated in milliseconds. */
const SMALL: CorpusOptions = { ...OPTIONS, brands: 4, ads: 40, days: 10 };

const digestOf = (observations: Iterable<Observation>): string => {
  const hash = createHash('sha256');
  for (const observation of observations) hash.update(JSON.stringify(observation)).update('\n');
  return hash.digest('hex');
};

type Scan = { readonly end: AdLibraryScanEnd; readonly ads: readonly ObservedAd[] };

const scansOf = (observations: readonly Observation[]): Scan[] => {
  const chunks = new Map<string, AdLibraryScanChunk[]>();
  const scans: Scan[] = [];
  for (const observation of observations) {
    if (observation.type === 'ad_library.scan') {
      chunks.set(observation.scan_id, [...(chunks.get(observation.scan_id) ?? []), observation]);
    } else if (observation.type === 'ad_library.scan_end') {
      const parts = chunks.get(observation.scan_id) ?? [];
      expect(parts.length).toBe(observation.chunks);
      scans.push({ end: observation, ads: parts.flatMap(({ ads }) => ads) });
    }
  }
  return scans;
};

describe('the demo corpus', () => {
  let observations: Observation[];
  let scans: Scan[];
  let sightings: Map<string, { readonly at: string; readonly collector: string; readonly ad: ObservedAd }[]>;

  beforeAll(() => {
    observations = [...demoObservations(OPTIONS)];
    scans = scansOf(observations);
    sightings = new Map();
    for (const { end, ads } of scans) {
      for (const ad of ads) {
        const seen = sightings.get(ad.ad_id) ?? [];
        seen.push({ at: end.scanned_at, collector: end.coverage.collector, ad });
        sightings.set(ad.ad_id, seen);
      }
    }
  });

  const histories = () => [...sightings.values()];

  test('is the same byte for byte for the same options, and differs for another seed', GENERATES, () => {
    expect(digestOf(demoObservations(OPTIONS))).toBe(digestOf(observations));
    const digest = digestOf(demoObservations(SMALL));
    expect(digestOf(demoObservations(SMALL))).toBe(digest);
    expect(digestOf(demoObservations({ ...SMALL, seed: 8 }))).not.toBe(digest);
  });

  test('fits the contracts and the message size', GENERATES, () => {
    for (const observation of observations) {
      const parsed = Observation.parse(observation);
      if (!isDeepStrictEqual(parsed, observation)) expect(parsed).toEqual(observation);
      const bytes = Buffer.byteLength(JSON.stringify(observation));
      if (bytes >= OBSERVATION_MAX_BYTES) expect(bytes).toBeLessThan(OBSERVATION_MAX_BYTES);
    }
  });

  test('describes every brand as synthetic and uses only reserved domains', () => {
    const profiles = observations.filter(({ type }) => type === 'brand.profile');
    expect(profiles).toHaveLength(OPTIONS.brands);
    for (const profile of profiles) {
      expect(profile).toMatchObject({
        description: expect.stringContaining('Synthetic demo brand.'),
        domain: expect.stringMatching(/\.example$/),
      });
    }
    expect(new Set(profiles.map((profile) => 'domain' in profile && profile.domain)).size).toBe(
      OPTIONS.brands,
    );
  });

  test('has about the requested number of ads, with ids of 15 to 17 digits', () => {
    expect(sightings.size).toBeGreaterThan(OPTIONS.ads * 0.8);
    expect(sightings.size).toBeLessThanOrEqual(OPTIONS.ads);
    expect(new Set([...sightings.keys()].map(({ length }) => length))).toEqual(new Set([15, 16, 17]));
  });

  test('is ordered by scan and ends on the day before `until`', () => {
    const times = scans.map(({ end }) => end.scanned_at);
    expect(times).toEqual(times.toSorted());
    expect(times[0]?.slice(0, 10)).toBe('2025-12-31');
    expect(times.at(-1)?.slice(0, 10)).toBe('2026-02-28');
  });

  test('has daily and weekly brands, and complete, incomplete and partial scans', () => {
    const counts = new Map<string, number>();
    const pages = new Map<string, Set<number>>();
    for (const { end } of scans) {
      counts.set(end.brand_domain, (counts.get(end.brand_domain) ?? 0) + 1);
      pages.set(end.brand_domain, (pages.get(end.brand_domain) ?? new Set()).add(end.coverage.pages.length));
    }
    expect([...counts.values()].some((count) => count > 50)).toBe(true);
    expect([...counts.values()].some((count) => count <= 9)).toBe(true);
    expect(scans.some(({ end }) => !end.coverage.complete)).toBe(true);
    expect([...pages.values()].some((sizes) => sizes.size > 1)).toBe(true);
  });

  test('has stops by absence and by the library, and ads that return', () => {
    const lastScanOf = new Map(scans.map(({ end }) => [end.brand_domain, end.scanned_at]));
    const longBeforeTheEnd = [...lastScanOf.values()].toSorted()[0]?.slice(0, 8) ?? '';
    const flagged = histories().filter((seen) => seen.at(-1)?.ad.is_active === false);
    const absent = histories().filter((seen) => {
      const last = seen.at(-1);
      return last?.ad.is_active === true && last.at < longBeforeTheEnd;
    });
    const stoppedByDate = histories().filter((seen) =>
      seen.some(({ ad }) => ad.is_active === null && ad.stopped_on),
    );
    const returned = histories().filter((seen) => {
      const stop = seen.findIndex(({ ad }) => ad.is_active === false);
      return stop >= 0 && seen.slice(stop).some(({ ad }) => ad.is_active === true);
    });
    for (const found of [flagged, absent, stoppedByDate, returned]) expect(found.length).toBeGreaterThan(3);
  });

  test('has link changes and copy edits within one collector, and app-store links', () => {
    const changes = (field: 'link_url' | 'body'): number =>
      histories().filter((seen) =>
        seen.some(
          ({ ad, collector }, index) =>
            index > 0 &&
            collector === seen[index - 1]?.collector &&
            ad[field] !== null &&
            seen[index - 1]?.ad[field] !== null &&
            ad[field] !== seen[index - 1]?.ad[field],
        ),
      ).length;
    expect(changes('link_url')).toBeGreaterThan(3);
    expect(changes('body')).toBeGreaterThan(3);
    const links = histories().flatMap((seen) => seen.map(({ ad }) => ad.link_url ?? ''));
    for (const part of ['apps.apple.com', 'play.google.com', '{{campaign.name}}', 'utm_source=']) {
      expect(links.some((link) => link.includes(part))).toBe(true);
    }
  });

  test('has a collector whose version change alters most copy from one day on', () => {
    const both = histories().filter((seen) => new Set(seen.map(({ collector }) => collector)).size === 2);
    expect(both.length).toBeGreaterThan(10);
    const reworded = both.filter((seen) => {
      const before = seen.findLast(({ collector }) => collector === 'demo-web/1')?.ad;
      const after = seen.find(({ collector }) => collector === 'demo-web/2')?.ad;
      return before?.body !== after?.body;
    });
    expect(reworded.length).toBeGreaterThan(both.length / 2);
  });

  test('has blank fields, ads that appear late, and pages linked or unlinked during the corpus', () => {
    const blank = histories().filter((seen) =>
      seen.some(({ ad }) => ad.started_on === null && ad.link_url === null),
    );
    const late = histories().filter((seen) => {
      const first = seen[0];
      const started = first?.ad.started_on;
      return (
        first &&
        started &&
        Date.parse(first.at) - Date.parse(started) > 5 * 86_400_000 &&
        first.at > '2026-01-15'
      );
    });
    const links = observations.filter((item) => item.type === 'social_page.link');
    expect(blank.length).toBeGreaterThan(3);
    expect(late.length).toBeGreaterThan(3);
    expect(links.some(({ linked }) => !linked)).toBe(true);
    expect(links.some(({ linked, observed_at }) => linked && observed_at > '2026-01-01')).toBe(true);
  });

  test('has creator pages with ads of several brands, all shown by the scan of each brand', () => {
    const byPage = new Map<string, Set<string>>();
    for (const [first] of histories()) {
      const host = /^https:\/\/(?:www\.)?([a-z0-9-]+\.example)/.exec(first?.ad.link_url ?? '')?.[1];
      const page = first?.ad.page_id;
      if (host && page) byPage.set(page, (byPage.get(page) ?? new Set()).add(host));
    }
    expect([...byPage.values()].filter(({ size }) => size > 1).length).toBeGreaterThan(1);
  });

  test('has brands that start to advertise during the corpus', () => {
    const newcomers = buildWorld(OPTIONS).brandList.filter(({ launch }) => launch !== null);
    expect(newcomers.length).toBeGreaterThan(3);
    for (const { domain } of newcomers) {
      const own = histories().filter(([first]) => first?.ad.link_url?.includes(`.${domain}/`));
      const starts = own.map(([first]) => first?.ad.started_on ?? '').toSorted();
      const [firstScan] = scans.filter(({ end }) => end.brand_domain === domain);
      expect(own.length).toBeGreaterThan(0);
      expect((firstScan?.end.scanned_at ?? '') < (starts.find((day) => day !== '') ?? '')).toBe(true);
    }
  });

  test('has every format, several languages, carousels with cards, and sale copy', () => {
    const ads = histories().map((seen) => seen[0]?.ad);
    expect(new Set(ads.map((ad) => ad?.format))).toEqual(
      new Set(['video', 'image', 'carousel', 'dco', 'other', null]),
    );
    expect(new Set(ads.flatMap((ad) => ad?.languages ?? [])).size).toBeGreaterThan(1);
    expect(ads.some((ad) => ad?.format === 'carousel' && ad.cards.length >= 3)).toBe(true);
    expect(ads.filter((ad) => /sale|% off/i.test(ad?.body ?? '')).length).toBeGreaterThan(50);
  });

  test('has daily scanned brands with many ads to track', () => {
    const brands = busiestBrands(buildWorld(OPTIONS), 8);
    expect(brands).toHaveLength(8);
    expect(brands.every(({ tracksDaily }) => tracksDaily)).toBe(true);
  });
});
