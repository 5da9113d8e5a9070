import { describe, expect, test } from 'vitest';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { busiestBrands, buildWorld } from '#deploy/local/demo/world/world.ts';
import { brandIdOf } from '#domain/ids.ts';
import { slugOfBrand } from '#tests/dsl/site-events.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { type BrandReplies, brokenRules, readReplies, REPLY_RULES } from '../fixtures/reply-rules.ts';
import { openApiStack } from '../fixtures/stack.ts';

const CORPUS = { seed: 5, brands: 8, ads: 250, days: 24, until: '2026-02-01' } as const;
const brands = busiestBrands(buildWorld(CORPUS), 5);

const stack = await disposeAfterAll(openApiStack());
const { DATABASE_URL: databaseUrl = '', EVENT_STORE_URL: eventStoreUrl = '' } = stack.environment;
await using intake = await openIntake({ databaseUrl, eventStoreUrl });
for (const observation of demoObservations(CORPUS)) {
  const { type } = observation;
  if (type === 'brand.profile' || type.startsWith('social_page.') || type.startsWith('ad_library.'))
    await intake.submit(observation);
}
const [app, key] = await Promise.all([stack.api(), stack.key({ plan: 'business' })]);
for (const { domain } of brands) {
  const body = { brand_id: brandIdOf(domain) };
  const tracked = await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, { key, body });
  expect(tracked.status).toBe(201);
}
await stack.projected(await stack.eventStore.head());
const replies = await Promise.all(brands.map(({ domain }) => readReplies(app, key, slugOfBrand(domain))));

const changed = (of: BrandReplies, name: keyof BrandReplies, value: object): BrandReplies => ({
  ...of,
  [name]: { ...(of[name] as object), ...value },
});
const raised = (
  of: BrandReplies,
  name: 'brand',
  field: keyof BrandReplies['brand'],
  by: number,
): BrandReplies => changed(of, name, { [field]: (of.brand[field] as number) + by });
const withFirst = <Entry extends object>(list: readonly Entry[], value: object): Entry[] =>
  list.map((entry, index) => (index === 0 ? { ...entry, ...value } : entry));

/** Per rule: a change of the replies that breaks it. */
const BREAKS: Readonly<Record<keyof typeof REPLY_RULES, (of: BrandReplies) => BrandReplies>> = {
  'the total is active, missing and inactive ads': (of) => ({ ...of, ads: of.ads.slice(1) }),
  'the formats add up to the active ads': (of) =>
    changed(of, 'breakdown', { formats: { ...of.breakdown.formats, dco: 77 } }),
  'the countries count the ads shown there': (of) =>
    changed(of, 'brand', { top_countries: withFirst(of.brand.top_countries, { ads: 9_999 }) }),
  'the pages add up to the active ads': (of) =>
    changed(of, 'leakage', { own_page_ads: of.leakage.own_page_ads + 1 }),
  'the creative library covers the active ads': (of) =>
    changed(of, 'library', { active_ads: of.library.active_ads + 1 }),
  'the last day has the active ads': (of) => ({
    ...of,
    days: of.days.slice(0, -1).concat({ ...of.days.at(-1), active_ads: 9_999 } as never),
  }),
  'a week sums its reliable days': (of) => ({ ...of, weeks: withFirst(of.weeks, { retired_ads: 9_999 }) }),
  'the radar of a day has its new and retired ads': (of) => ({ ...of, radar: of.radar.slice(1) }),
  'the counts of 7 and 30 days are those of the radar': (of) => raised(of, 'brand', 'new_ads_30d', 1),
  'the counts of 7 days are not over those of 30': (of) => raised(of, 'brand', 'retired_ads_7d', 9_999),
  'nothing is dated after its as_of': (of) => ({
    ...of,
    ads: withFirst(of.ads, { last_seen_at: '2030-01-01T00:00:00.000Z' }),
  }),
};

describe('the replies about a brand', () => {
  test('agree, also where ads are missing, inactive, new and retired', () => {
    expect(replies.map(brokenRules)).toEqual(replies.map(() => []));
    const [busiest] = replies;
    const statuses = new Set(replies.flatMap(({ ads }) => ads.map(({ status }) => status)));
    expect([...statuses].toSorted()).toEqual(['active', 'inactive', 'missing']);
    expect(busiest?.radar.length).toBeGreaterThan(0);
    expect(busiest?.signals.length).toBeGreaterThan(0);
    expect(busiest?.weeks.length).toBeGreaterThan(2);
    expect(replies.some(({ leakage }) => leakage.third_party_ads > 0)).toBe(true);
  });

  test('have a break for each rule in this file', () => {
    expect(Object.keys(BREAKS)).toEqual(Object.keys(REPLY_RULES));
  });

  test.each(Object.keys(REPLY_RULES))('are found to disagree when broken: %s', (name) => {
    const [busiest] = replies;
    const broken = brokenRules(BREAKS[name]?.(busiest as BrandReplies) as BrandReplies);
    expect(broken.filter((line) => line.startsWith(`${name}: `))).toHaveLength(1);
  });
});
