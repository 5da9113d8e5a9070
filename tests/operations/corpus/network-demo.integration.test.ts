import { afterAll, beforeAll, expect, test } from 'vitest';
import { brandSlugOf, categoryIdOf } from '#domain/ids.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { busiestBrands, buildWorld } from '#deploy/local/demo/world/world.ts';
import { operators } from '#projections/operators/project.ts';
import { partnerships } from '#projections/partnerships/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { rebuildProjection } from '#services/projector/rebuild/rebuild-projection.ts';
import { swapWithoutProjector } from '#tests/stack/verify-read-models.ts';
import { on } from '#tests/dsl/api.ts';
import { checksums } from '#tests/stack/read-models.ts';
import { type ApiStack, openApiStack } from '../fixtures/stack.ts';

const CORPUS = { seed: 1, brands: 24, ads: 700, days: 10, until: '2026-02-01' } as const;
const PROJECTIONS = [socialPages, partnerships, operators];

let stack: ApiStack;
let get: (path: string) => Promise<never>;
const world = buildWorld(CORPUS);
const slugs = busiestBrands(world, 12).map(({ domain }) => brandSlugOf(domain));

beforeAll(async () => {
  stack = await openApiStack();
  const { DATABASE_URL: databaseUrl = '', EVENT_STORE_URL: eventStoreUrl = '' } = stack.environment;
  await using intake = await openIntake({ databaseUrl, eventStoreUrl });
  const taken = ['brand.profile', 'social_page.link', 'social_page.profile', 'operator.record'];
  for (const observation of demoObservations(CORPUS)) {
    if (taken.includes(observation.type) || observation.type.startsWith('ad_library.')) {
      await intake.submit(observation);
    }
  }
  const [app, key] = await Promise.all([stack.api(), stack.key({ plan: 'business' })]);
  await stack.projected(await stack.eventStore.head());
  get = async (path) => {
    const reply = await on(app).get(path, { key });
    expect(reply.status, path).toBe(200);
    return reply.data;
  };
});
afterAll(() => stack[Symbol.asyncDispose]());

test.each(['social-pages', 'copy-reuse', 'partnerships', 'operators'])(
  'some brands have non-empty %s',
  async (name) => {
    const shown = await Promise.all(slugs.map((slug) => get(`/v1/brands/${slug}/${name}`)));
    expect(shown.some((items: readonly unknown[]) => items.length > 0)).toBe(true);
  },
);

test('the leakage counts add up to the active ads of each brand', async () => {
  let third = 0;
  for (const slug of slugs) {
    const leakage = (await get(`/v1/brands/${slug}/leakage`)) as Record<string, number>;
    const { active_ads } = (await get(`/v1/brands/${slug}`)) as { active_ads: number };
    const { own_page_ads = 0, third_party_ads = 0, unlinked_page_ads = 0, unnamed_page_ads = 0 } = leakage;
    const sum = own_page_ads + third_party_ads + unlinked_page_ads + unnamed_page_ads;
    expect([slug, sum]).toEqual([slug, active_ads]);
    expect(leakage['active_ads']).toBe(active_ads);
    third += third_party_ads;
  }
  expect(third).toBeGreaterThan(0);
});

test('hubs, operators and networks are not empty', async () => {
  expect(await get('/v1/hubs')).not.toEqual([]);
  expect(await get('/v1/operators')).not.toEqual([]);
  const tops = new Set(world.brandList.map(({ categoryPath }) => categoryPath[0]));
  for (const top of tops) {
    const network = await get(`/v1/brand-network?category_id=${categoryIdOf([top])}`);
    expect(network).toMatchObject({ brands_without_link: expect.any(Number) });
  }
  const networks = await Promise.all(slugs.map((slug) => get(`/v1/brand-network?brand_id=${slug}`)));
  expect(networks.some(({ links }: { links: unknown[] }) => links.length > 0)).toBe(true);
});

test('a rebuild from an empty schema produces the same read models', async () => {
  const before = await checksums(stack.pool, PROJECTIONS);
  await stack.stopProjector();
  for (const projection of PROJECTIONS) {
    await rebuildProjection(stack.pool, stack.eventStore, projection, new AbortController().signal);
    await swapWithoutProjector(stack.pool, projection);
  }
  expect(await checksums(stack.pool, PROJECTIONS)).toEqual(before);
  expect(before['partnerships.ad']).toMatch(/^[1-9]\d+:/);
});
