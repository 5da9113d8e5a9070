import { expect, test } from 'vitest';
import { Observation } from '#contracts/observations/index.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';

/** Profiles, partners and companies of the demo corpus, so that every endpoint has something to show. */
const observations = [
  ...demoObservations({ seed: 1, brands: 24, ads: 1_500, days: 20, until: '2026-02-01' }),
];

test('fits the contracts and is the same each time', () => {
  for (const observation of observations) expect(Observation.safeParse(observation).success).toBe(true);
  const again = [...demoObservations({ seed: 1, brands: 24, ads: 1_500, days: 20, until: '2026-02-01' })];
  expect(again).toEqual(observations);
});

test('has page profiles on which two sources disagree', () => {
  const profiles = observations.filter((item) => item.type === 'social_page.profile');
  const byPage = Map.groupBy(profiles, ({ page_id }) => page_id);
  const disagreeing = [...byPage.values()].filter(
    (of) => new Set(of.map(({ followers }) => followers)).size > 1,
  );
  expect(disagreeing.length).toBeGreaterThan(3);
});

test('has quarantined links, and claims that are never served', () => {
  const links = observations.filter((item) => item.type === 'social_page.link');
  expect(links.some(({ quarantined }) => quarantined === true)).toBe(true);
  expect(links.some(({ role, quarantined }) => role === 'AMBASSADOR' && quarantined !== true)).toBe(true);
});

test('has companies with several brands, each on more than one basis', () => {
  const records = observations.filter((item) => item.type === 'operator.record');
  const byName = Map.groupBy(records, ({ name }) => name);
  expect(byName.size).toBeGreaterThan(1);
  for (const of of byName.values()) {
    expect(new Set(of.map(({ basis }) => basis)).size).toBeGreaterThan(1);
    expect(Math.max(...of.map(({ domains }) => domains.length))).toBeGreaterThan(1);
  }
});

test('has ads that name a partner, in both directions', () => {
  const ads = observations.flatMap((item) => (item.type === 'ad_library.scan' ? item.ads : []));
  const branded = ads.filter(({ branded_content }) => branded_content);
  const pages = new Map(
    observations.flatMap((item) => (item.type === 'social_page.link' ? [[item.page_id, item.role]] : [])),
  );
  const directions = new Set(
    branded.map(({ page_id, branded_content }) =>
      [pages.get(page_id ?? ''), pages.get(branded_content?.page_id ?? '')]
        .map((role) => (role === 'OFFICIAL' ? 'brand' : 'creator'))
        .join(' names '),
    ),
  );
  expect(directions).toEqual(new Set(['brand names creator', 'creator names brand']));
});
