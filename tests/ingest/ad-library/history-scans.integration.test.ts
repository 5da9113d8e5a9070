import { afterAll, beforeAll, expect, it } from 'vitest';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { listBrandAds } from '#projections/ads/read.ts';
import { findBrand } from '#projections/brands/read.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { listRadar } from '#projections/radar/read.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { untilPassed } from '../../stack/read-models.ts';
import { brokenInvariants, rebuildAll } from '../../stack/verify-read-models.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Tests rule 11: a scan more than 60 days before the newest only adds ads that no other showed. */

let stack: ApiStack;
let intake: Intake & AsyncDisposable;
let db: ReturnType<typeof openReadDatabase>;

beforeAll(async () => {
  stack = await openApiStack();
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
  db = openReadDatabase(DATABASE_URL);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await intake[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const BRAND = 'history.example';
const [SCANNED, ONCE, NEVER] = ['610000001', '610000002', '610000003'];
const PAST = '2026-01-01T10:00:00.000Z';

type Shown = Readonly<Record<string, readonly number[]>>;

const scan = async (at: string, shown: Shown, brand = BRAND) => {
  const ads = Object.entries(shown).flatMap(([page_id, ids]) =>
    ids.map((id) => ad(id, { page_id, is_active: true, started_on: '2025-12-01', body: at })),
  );
  const { chunks, end } = scanOf(brand, at, ads, { pages: Object.keys(shown), chunkSize: 2 });
  for (const chunk of chunks) await intake.submit(chunk);
  return await intake.submit(end);
};

const FIRST = { limit: 100, after: null } as const;
const parsed = (items: readonly string[]) =>
  items.map((item) => JSON.parse(item.replaceAll(BASE_URL_MARK, '')) as Record<string, unknown>);

const readBrand = async (brand = BRAND) => {
  await untilPassed(stack.pool, await stack.eventStore.head());
  const id = brandIdOf(brand);
  const ads = parsed((await listBrandAds(db, id, FIRST)).items);
  const found = await findBrand(db, { id });
  const days = parsed((await readDailyActivity(db, id, {})).items);
  const radar = parsed((await listRadar(db, { brandIds: [id], since: '2025-01-01T00:00:00Z' }, FIRST)).items);
  const { active_ads, total_ads } = parsed([found?.detail ?? '{}'])[0] ?? {};
  return {
    statuses: Object.fromEntries(ads.map((one) => [Number(String(one['id']).slice(-2)), one['status']])),
    bodies: Object.fromEntries(ads.map((one) => [Number(String(one['id']).slice(-2)), one['body']])),
    totals: { active_ads, total_ads },
    activeByDay: Object.fromEntries(days.map(({ date, active_ads: active }) => [date, active])),
    radar: radar.map(({ type }) => type),
  };
};

it('adds its unknown ads with the status that the later scans give them, and no news', async () => {
  await scan('2026-03-08T10:00:00Z', { [SCANNED]: [11, 12] });
  await scan('2026-03-09T10:00:00Z', { [SCANNED]: [11, 12] });
  await scan('2026-03-10T10:00:00Z', { [SCANNED]: [11, 12], [ONCE]: [] });
  const before = await readBrand();
  expect(before.totals).toEqual({ active_ads: 2, total_ads: 2 });

  await scan(PAST, { [SCANNED]: [11, 21], [ONCE]: [22], [NEVER]: [23, 24] });
  const after = await readBrand();
  expect(after.statuses).toEqual({
    11: 'active',
    12: 'active',
    // Two complete scans of its page, a day apart, lack it.
    21: 'inactive',
    22: 'missing',
    23: 'active',
    24: 'active',
  });
  expect(after.bodies).toMatchObject({ 11: '2026-03-10T10:00:00Z', 21: PAST });
  expect(after.totals).toEqual({ active_ads: 5, total_ads: 6 });
  expect(after.radar).toEqual(before.radar);
  expect(after.activeByDay).toMatchObject({ '2026-03-09': 2, '2026-03-10': 5 });
});

it('changes nothing when it comes again', async () => {
  const before = await stack.eventStore.head();
  expect(await scan(PAST, { [SCANNED]: [11, 21], [ONCE]: [22], [NEVER]: [23, 24] })).toMatchObject({
    events: 0,
  });
  expect(await stack.eventStore.head()).toBe(before);
});

it('leaves the next scan without news of its ads', async () => {
  await scan('2026-03-11T10:00:00Z', { [SCANNED]: [11, 12], [NEVER]: [23, 24] });
  const { statuses, totals, radar } = await readBrand();
  expect([statuses[21], statuses[23]]).toEqual(['inactive', 'active']);
  expect(totals).toEqual({ active_ads: 5, total_ads: 6 });
  expect(radar).toEqual([]);
});

it('counts in full for a brand that no other scan looked at, although its page was scanned since for another brand', async () => {
  const [brand, page] = ['first-look.example', '610000004'];
  await scan('2026-03-10T10:00:00Z', { [page]: [] }, 'other-brand.example');
  await scan(PAST, { [page]: [31] }, brand);
  const { statuses, totals } = await readBrand(brand);
  expect(statuses).toEqual({ 31: 'missing' });
  expect(totals).toEqual({ active_ads: 1, total_ads: 1 });
});

it('has figures that agree, and tables that a rebuild yields again', async () => {
  await untilPassed(stack.pool, await stack.eventStore.head());
  expect(await brokenInvariants(stack.pool)).toEqual([]);
  await stack.stopProjector();
  const { live, rebuilt } = await rebuildAll(stack.pool, stack.eventStore);
  expect(rebuilt).toEqual(live);
}, 120_000);
