import { describe, expect, test } from 'vitest';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { Observation } from '#contracts/observations/index.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { creatives } from '#deploy/local/demo/generators/creative-files.ts';
import { pages } from '#deploy/local/demo/generators/landing-pages.ts';
import { buildWorld } from '#deploy/local/demo/world/world.ts';

const SIZE = { seed: 7, brands: 30, ads: 2_000, days: 40 };
const FIRST_DAY_MS = Date.parse('2026-01-20');
const LAST_DAY = '2026-03-01';
const world = buildWorld(SIZE);
const visits = [...pages(world, FIRST_DAY_MS)];
const files = [...creatives(world, FIRST_DAY_MS)];
const of = <Type extends Observation['type']>(all: readonly Observation[], type: Type) =>
  all.filter((one): one is Extract<Observation, { type: Type }> => one.type === type);

const scanned = [...demoObservations({ ...SIZE, until: LAST_DAY })].flatMap((one) =>
  one.type === 'ad_library.scan' ? one.ads : [],
);

describe('the demo corpus of landing pages and creatives', () => {
  test('fits the contracts and the days of the corpus', () => {
    for (const one of [...visits, ...files]) {
      expect(Observation.parse(one)).toEqual(one);
      const at = 'observed_at' in one ? one.observed_at : '';
      expect(at > new Date(FIRST_DAY_MS).toISOString() && at < LAST_DAY).toBe(true);
    }
  });

  test('scrapes landing pages of ads in the scans', () => {
    const led = new Set(scanned.map(({ link_url }) => link_url && landingPageOf(link_url)?.landing_page_id));
    const visited = of(visits, 'landing_page.scrape').map(({ page_url }) => landingPageOf(page_url));
    expect(new Set(visited.map((page) => page?.landing_page_id)).size).toBeGreaterThan(100);
    const met = visited.filter((page) => led.has(page?.landing_page_id));
    expect(met.length).toBeGreaterThan(visited.length * 0.9);
    expect(of(visits, 'landing_page.scrape').some(({ http_status }) => http_status === 404)).toBe(true);
    expect(
      new Set(of(visits, 'landing_page.classify').map(({ page_type }) => page_type)).size,
    ).toBeGreaterThan(5);
  });

  test('has files of ads in the scans, some shared by several ads, at every analysis depth', () => {
    const known = new Set(scanned.map(({ ad_id }) => ad_id));
    const stored = of(files, 'creative.file');
    expect(new Set(stored.map(({ creative_key }) => creative_key)).size).toBe(stored.length);
    expect(stored.length).toBeGreaterThan(200);
    const carriers = stored.flatMap(({ ad_ids }) => ad_ids);
    expect(carriers.filter((id) => known.has(id)).length).toBeGreaterThan(carriers.length * 0.9);
    expect(stored.some(({ ad_ids }) => ad_ids.length > 2)).toBe(true);
    expect(stored.some(({ media_url }) => media_url === null)).toBe(true);
    const read = of(files, 'creative.analysis');
    expect(new Set(read.map(({ depth }) => depth))).toEqual(new Set(['transcribed', 'described']));
    expect(read.length).toBeLessThan(stored.length);
    expect(read.some(({ corrections }) => (corrections ?? []).length > 0)).toBe(true);
  });

  test('is the same for the same world', () => {
    expect([...creatives(buildWorld(SIZE), FIRST_DAY_MS)]).toEqual(files);
    expect([...pages(buildWorld(SIZE), FIRST_DAY_MS)]).toEqual(visits);
  });
});
