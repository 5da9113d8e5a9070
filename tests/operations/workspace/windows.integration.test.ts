import { metadataOf } from '#tests/dsl/metadata.ts';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { derivedId } from '#domain/ids.ts';
import { on } from '#tests/dsl/api.ts';
import { registered, seedBrand } from '../fixtures/corpus.ts';
import { BLANK_CONTENT, scanRecorded } from '#tests/dsl/ad-events.ts';
import { type ApiStack, type Key, openApiStack } from '../fixtures/stack.ts';

/** The window ends with the brand's last scan, a while ago: a window that ends now would hold other days. */
const LAST_SCAN_DAYS_AGO = 12;
const METADATA = metadataOf('windows');

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
let brandId: string;

const day = (before: number, time: string): string =>
  `${utcDateOfMs(Date.now() - (LAST_SCAN_DAYS_AGO + before) * DAY_MS)}T${time}Z`;

/** Scans of a brand, each with one new ad: two before the window of seven days, its first and last moments, and its day. */
const SCANS = [
  day(29, '00:00:00.000'),
  day(7, '23:59:59.999'),
  day(6, '00:00:00.000'),
  day(3, '12:00:00.000'),
  day(0, '09:00:00.000'),
];
const IN_WEEK = 3;

const scanWithNewAd = (observed_at: string, index: number): AdLibraryEvent[] => {
  const scan_id = derivedId('scan', `${brandId} ${observed_at}`);
  const counted = {
    ad_id: `80000000${index}`,
    format: 'video' as const,
    countries: ['US'],
    started_on: observed_at.slice(0, 10),
  };
  return [
    {
      type: 'AdStarted',
      data: {
        brand_id: brandId,
        scan_id,
        observed_at,
        ...counted,
        page_id: '104857600',
        page_name: 'A page',
        novelty: 'news',
        missing_since: null,
        collector: 'tests',
        content: { ...BLANK_CONTENT, body: `Copy ${index}`, format: 'video' },
      },
    },
    scanRecorded(brandId, observed_at, {
      pages: [{ page_id: '104857600', page_name: 'A page', baseline: false }],
      totals: { seen: index + 1, active: index + 1, total: index + 1, news: 1 },
    }),
  ];
};

beforeAll(async () => {
  stack = await openApiStack();
  [app, key] = await Promise.all([stack.api(), stack.key()]);
  const registration = registered('window.com', day(100, '00:00:00.000'));
  brandId = registration.data.brand_id;
  await seedBrand(stack.eventStore, registration);
  await stack.eventStore.append(
    adLibraryStream(brandId),
    -1n,
    SCANS.flatMap(scanWithNewAd),
    METADATA,
    'scans of window.com',
  );
  await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
    key,
    body: { brand_id: brandId },
  });
  await stack.projected(await stack.eventStore.head());
});
afterAll(() => stack[Symbol.asyncDispose]());

const get = async <T>(path: string): Promise<T> =>
  (await on(app).get(path.replace('{ws}', key.workspaceId), { key })).data;

describe('the last 7 and 30 days', () => {
  test('follow the days of the brand in every reply', async () => {
    const brand = await get<{ new_ads_7d: number; new_ads_30d: number }>('/v1/brands/window');
    expect([brand.new_ads_7d, brand.new_ads_30d]).toEqual([IN_WEEK, SCANS.length]);
    for (const [days, expected] of [
      [7, IN_WEEK],
      [30, SCANS.length],
      [29, SCANS.length - 1],
    ] as const) {
      const items = await get<{ observed_at: string }[]>(`/v1/workspaces/{ws}/radar?days=${days}`);
      expect(items).toHaveLength(expected);
      const ofBrand = await get<object[]>(`/v1/workspaces/{ws}/radar?days=${days}&brand_id=${brandId}`);
      expect(ofBrand).toHaveLength(expected);
      const signals = await get<{ kind: string }[]>(
        `/v1/workspaces/{ws}/radar/signals?days=${days}&kinds=ads_started`,
      );
      expect(signals).toHaveLength(expected);
    }
    const days = await get<{ date: string; new_ads: number }[]>('/v1/brands/window/daily-activity');
    const first = day(6, '00:00:00.000').slice(0, 10);
    const inWeek = days.filter(({ date }) => date >= first);
    expect(inWeek.reduce((sum, { new_ads }) => sum + new_ads, 0)).toBe(IN_WEEK);
  });

  test('end with the newest scan where a reply is about the corpus', async () => {
    const { coverage } = await get<{ coverage: { brands_scraped_7d: number }[] }>('/v1/system/freshness');
    expect(coverage.map(({ brands_scraped_7d }) => brands_scraped_7d)).toEqual([1]);
    expect(await get<object[]>('/v1/ads')).toHaveLength(SCANS.length);
  });
});
