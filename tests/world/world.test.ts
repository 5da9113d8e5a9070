import { afterEach, describe, expect, test } from 'vitest';
import { buildWorld } from '#deploy/local/demo/world/world.ts';
import { shopsOf } from '#deploy/local/demo/generators/storefronts.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { ARCHIVE_COUNTRIES } from '#domain/collecting/archive-coverage.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { requestOnce } from '#platform/http-client/request-once.ts';
import { ARCHIVE_HOST, type OpenWorld, openWorld, type WorldOptions } from '#tests/world/open-world.ts';
import { createWorldClock } from '#tests/world/world-clock.ts';
import { FAULT_KINDS, type WorldFaultInput } from '#tests/world/world-faults.ts';

const TOKEN = 'EAAtokenoftheworld';
const FIRST_DAY_MS = Date.parse('2026-03-01T00:00:00Z');
const START_MS = FIRST_DAY_MS + 10 * DAY_MS;
const world = buildWorld({ seed: 5, brands: 9, ads: 360, days: 40 });
const placed = { world, firstDayMs: FIRST_DAY_MS };
const shop = shopsOf(world)[0]?.domain ?? '';
const page = world.pageList[0];

const resources: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of resources.splice(0)) await resource[Symbol.asyncDispose]();
});
const open = async (options: Partial<WorldOptions> = {}) => {
  const clock = createWorldClock(START_MS);
  const opened = await openWorld({ placed, clock, ...options });
  opened.archive.tokens.add(TOKEN);
  resources.push(opened);
  return { ...opened, clock };
};

const egress = openEgress({ allowLoopback: true });
const get = (
  opened: OpenWorld,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  timeoutMs = 5_000,
) =>
  requestOnce({ egress, via: opened.origin }, new URL(url), {
    headers,
    maxBytes: 8 * 1024 ** 2,
    overflow: 'fail',
    signal: AbortSignal.timeout(timeoutMs),
  });
const getJson = async (opened: OpenWorld, url: string): Promise<unknown> =>
  JSON.parse((await get(opened, url, { authorization: `Bearer ${TOKEN}` })).body.toString('utf8'));
const library = (status: 'ACTIVE' | 'INACTIVE'): string =>
  `https://${ARCHIVE_HOST}/v24.0/ads_archive?search_page_ids=["${page?.id}"]&ad_reached_countries=${JSON.stringify(
    ARCHIVE_COUNTRIES,
  )}&ad_active_status=${status}&fields=ad_creative_bodies,ad_delivery_stop_time&limit=500`;
test('equal seeds and times give equal answers, and time changes them', async () => {
  const [first, second] = [await open(), await open()];
  for (const url of [
    library('ACTIVE'),
    library('INACTIVE'),
    `https://${shop}/products.json?limit=250&page=1`,
  ]) {
    expect(await getJson(first, url)).toEqual(await getJson(second, url));
  }
  const before = await getJson(first, library('ACTIVE'));
  first.clock.advance(5 * DAY_MS);
  expect(await getJson(first, library('ACTIVE'))).not.toEqual(before);
});

test('the library shows deliveries in the European Union and the United Kingdom only, without links and media', async () => {
  const opened = await open();
  const { data } = (await getJson(opened, library('ACTIVE'))) as { data: { id: string }[] };
  const own = page?.ads ?? 0;
  expect(data.length).toBeGreaterThan(0);
  expect(data.length).toBeLessThan(own);
  expect(Object.keys(data[0] ?? {})).toEqual(['id', 'ad_creative_bodies']);
});

describe('faults', () => {
  const products = `https://${shop}/products.json?limit=250&page=2`;
  const faultOf = async (kind: WorldFaultInput['kind'], more: object = {}): Promise<OpenWorld> => {
    const opened = await open();
    opened.faults.add([{ host: shop, kind, ...more }]);
    return opened;
  };

  test('end after their number of answers, concern their host and path only, and can be cleared', async () => {
    const opened = await faultOf('status', { path: '/products.json', times: 2, status: 430 });
    expect((await get(opened, `https://${shop}/meta.json`)).status).toBe(200);
    expect((await get(opened, `https://${world.brandList[1]?.domain}/products.json`)).status).toBe(200);
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await get(opened, products)).status);
    expect(statuses).toEqual([430, 430, 200]);
    opened.faults.add([{ host: '*', kind: 'html', times: null }]);
    opened.faults.clear();
    expect((await get(opened, products)).headers['content-type']).toContain('json');
  });

  test.each(FAULT_KINDS.filter((kind) => !['network', 'slow', 'large', 'size_lie'].includes(kind)))(
    '%s changes the answer',
    async (kind) => {
      const first = products.replace('page=2', 'page=1');
      // The second page is empty, and the first has products.
      const asked = kind === 'loop' ? products : first;
      const well = await get(await open(), asked);
      const wellBody = [well.status, well.body.toString('hex')];
      for (const headers of [{}, { 'if-none-match': well.headers['etag'] ?? '' }]) {
        const bad = await get(await faultOf(kind), asked, headers);
        expect([bad.status, bad.body.toString('hex')]).not.toEqual(wellBody);
        expect(bad.status, 'a fault has an answer of its own').not.toBe(304);
      }
    },
  );

  test.each(['network', 'size_lie', 'large'] as const)('%s ends the request with an error', async (kind) => {
    await expect(get(await faultOf(kind), products)).rejects.toThrow(/closed|socket|terminated|more than/i);
  });

  test('slow sends one byte at a time', async () => {
    await expect(get(await faultOf('slow'), products, {}, 300)).rejects.toThrow(/abort/i);
  });
});

test('a host that the world does not have answers 404, and a further host wins over the site of a brand', async () => {
  const opened = await open({
    hosts: new Map([[shop, () => ({ status: 200, headers: {}, body: 'media' })]]),
  });
  expect((await get(opened, 'https://elsewhere.example/')).status).toBe(404);
  expect((await get(opened, `https://${shop}/`)).body.toString()).toBe('media');
});
