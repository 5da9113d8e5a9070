import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { socialPageStream } from '#contracts/events/corpus/social-page.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import type { Signal } from '#contracts/resources/workspace/signal.ts';
import { SignalKind } from '#contracts/values/signals.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';
import { on } from '#tests/dsl/api.ts';
import {
  EXCERPT,
  type Launch,
  story,
  dateOf,
  storyDayOf,
} from '#tests/projections/fixtures/signal-stories.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../fixtures/stack.ts';

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
let path: string;
const OWN_PAGE = '100000001';
const LINKED_PAGE = '100000002';
const DAY_MS = 86_400_000;
const ago = (days: number): number => storyDayOf(new Date(Date.now() - days * DAY_MS));

const launches = (count: number, more: Launch = {}): Launch => ({ count, page: OWN_PAGE, ...more });

const moves = () => {
  const brand = story('moves.example', 1);
  const old = { novelty: 'baseline', since: ago(200), link: 'https://moves.example/' } as const;
  return brand
    .link(ago(40), OWN_PAGE, 'OFFICIAL')
    .link(ago(3), LINKED_PAGE, 'CREATOR')
    .scan(ago(31), { baseline: true, launches: [launches(20, old)] })
    .scan(ago(10))
    .scan(ago(5))
    .scan(ago(4))
    .scan(ago(3), {
      launches: [
        launches(29, { format: 'video', body: '20% off', link: 'https://moves.example/sale' }),
        launches(1, { page: LINKED_PAGE }),
      ],
      more: (sighting): readonly AdLibraryEvent[] => [
        {
          type: 'AdDestinationChanged',
          data: {
            ...sighting,
            ...brand.ad(0),
            excerpt: EXCERPT,
            from_url: old.link,
            to_url: `${old.link}x`,
          },
        },
      ],
    })
    .shop(ago(3), 20, 5);
};
const falls = () =>
  story('falls.example', 2)
    .scan(ago(9), { baseline: true, launches: [launches(30, { novelty: 'baseline', since: ago(100) })] })
    .scan(ago(2), { stops: 15 });

beforeAll(async () => {
  stack = await openApiStack();
  [app, key] = await Promise.all([stack.api(), stack.key()]);
  path = `/v1/workspaces/${key.workspaceId}/radar/signals`;
  for (const brand of [moves(), falls()]) {
    for (const stream of [adLibraryStream(brand.brand_id), ...STREAMS(brand)]) {
      const events = brand.events.filter((one) => one.stream === stream).map(({ event }) => event);
      if (events.length === 0) continue;
      await stack.eventStore.append(stream, -1n, events, METADATA, `tests ${stream}`);
    }
    await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: brand.brand_id },
    });
  }
  await stack.projected(await stack.eventStore.head());
});
afterAll(() => stack[Symbol.asyncDispose]());

const STREAMS = ({ brand_id }: { readonly brand_id: string }): readonly string[] => [
  brandStream(brand_id),
  socialPageStream(OWN_PAGE),
  socialPageStream(LINKED_PAGE),
  storefrontStream('moves.example'),
];

type Item = {
  readonly observed_at: string;
  readonly brand: { readonly id: string };
  readonly date: string;
  readonly reliable: boolean;
  readonly active_ads: number;
  readonly format: string;
  readonly page_id: string;
};

const list = async (query = ''): Promise<{ data: Signal[]; cursor: string | undefined }> => {
  const reply = await on(app).get(`${path}?${query}`, { key });
  expect(reply.status, reply.body).toBe(200);
  return { data: reply.data as Signal[], cursor: reply.meta.cursor };
};

describe('listSignals 200', () => {
  test('lists each kind of signal at tracked brands, newest first over all pages, and none for another workspace', async () => {
    const { data } = await list('days=30');
    expect([...new Set(data.map(({ kind }) => kind))].toSorted()).toEqual(SignalKind.options.toSorted());
    const times = data.map(({ observed_at }) => observed_at);
    expect(times).toEqual(times.toSorted().toReversed());

    const paged: Signal[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(`days=30&limit=5${cursor ? `&cursor=${cursor}` : ''}`);
      paged.push(...page.data);
      cursor = page.cursor;
    } while (cursor);
    expect(paged).toEqual(data);

    const other = await stack.key();
    const theirs = await on(app).get(`/v1/workspaces/${other.workspaceId}/radar/signals`, { key: other });
    expect(theirs.data).toEqual([]);
  });

  test('filters by days and kinds', async () => {
    const { data } = await list('days=3&kinds=ads_stopped,drop');
    expect(data.map(({ kind, brand, counts }) => `${kind} ${brand.slug} ${counts.items}`).toSorted()).toEqual(
      ['ads_stopped falls 15', 'drop falls 15'],
    );
    // The days of a brand end with its last scan: one of them three days ago, the other two.
    const lastDay = (await list('days=1')).data.map(({ brand, date }) => `${brand.slug} ${date}`);
    expect([...new Set(lastDay)].toSorted()).toEqual([`falls ${dateOf(ago(2))}`, `moves ${dateOf(ago(3))}`]);
  });

  test('links each signal to the items behind it', async () => {
    const { data } = await list('days=30');
    for (const { kind, date, counts, about, compared_with, format, brand, evidence } of data) {
      for (const { resource, url } of evidence) {
        expect(url.startsWith(`${BASE_URL}/v1/`)).toBe(true);
        const reply = await on(app).get(url.slice(BASE_URL.length), { key });
        expect(reply.status, `${kind}: ${url}`).toBe(200);
        const items = reply.data as Item[];
        if (resource === 'radar') {
          expect(items.length, url).toBe(counts.items);
          expect(items.map(({ observed_at }) => observed_at.slice(0, 10))).toEqual(items.map(() => date));
          expect(new Set(items.map((item) => item.brand.id))).toEqual(new Set([brand.id]));
        } else if (resource === 'daily_activity') {
          const days = items.map((day) => [day.date, day.reliable, day.active_ads]);
          expect(days.at(-1)?.slice(0, 2)).toEqual([date, true]);
          if (compared_with) expect(days[0]?.slice(0, 2)).toEqual([compared_with, true]);
          if (kind === 'ramp' || kind === 'drop')
            expect([days[0]?.[2], days.at(-1)?.[2]]).toEqual([counts.before, counts.after]);
        } else if (resource === 'ads') {
          expect([items.length, new Set(items.map((ad) => ad.format))]).toEqual([
            counts.after,
            new Set([format]),
          ]);
        } else if (resource === 'ad') {
          expect(about.map(({ ad }) => ad?.url)).toContain(url);
        } else if (resource === 'social_pages') {
          const shown = items.map(({ page_id }) => page_id);
          expect(shown).toEqual(expect.arrayContaining(about.map(({ page }) => page?.page_id)));
        }
      }
    }
  });
});

describe('listSignals 400', () => {
  test.each(['days=0', 'days=366', 'kinds=ad_started', 'kinds=', 'since=2026-01-01', 'cursor=x'])(
    'rejects %s',
    async (query) => {
      expect((await on(app).get(`${path}?${query}`, { key })).status).toBe(400);
    },
  );

  test('rejects a cursor of other filters', async () => {
    const { cursor } = await list('days=30&limit=5');
    expect((await on(app).get(`${path}?days=29&limit=5&cursor=${cursor}`, { key })).status).toBe(400);
  });
});

const ofBrand = (brand: string, by = key): string =>
  `/v1/workspaces/${by.workspaceId}/tracked-brands/${brand}/signals`;
const listOf = async (brand: string, query = ''): Promise<{ data: Signal[]; cursor: string | undefined }> => {
  const reply = await on(app).get(`${ofBrand(brand)}?${query}`, { key });
  expect(reply.status, reply.body).toBe(200);
  return { data: reply.data as Signal[], cursor: reply.meta.cursor };
};

describe('listBrandSignals 200', () => {
  test('lists all signals of the brand alone, by slug and by uuid, over pages of any size', async () => {
    const all = (await list('days=365&limit=100')).data.filter(({ brand }) => brand.slug === 'moves');
    expect(all.length).toBeGreaterThan(5);
    expect((await listOf('moves', 'limit=100')).data).toEqual(all);
    const paged: Signal[] = [];
    let cursor: string | undefined;
    do {
      const page = await listOf(all[0]?.brand.id ?? '', `limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      paged.push(...page.data);
      cursor = page.cursor;
    } while (cursor);
    expect(paged).toEqual(all);
    expect((await listOf('moves', `limit=${all.length}`)).cursor).toBeUndefined();
  });

  test('filters by kinds', async () => {
    const { data } = await listOf('falls', 'kinds=drop,ramp');
    expect(data.map(({ kind }) => kind)).toEqual(['drop']);
  });

  test('includes the time since, and excludes the time until, over several pages', async () => {
    const all = (await listOf('moves', 'limit=100')).data;
    const times = [...new Set(all.map(({ observed_at }) => observed_at))];
    const [until = '', since = ''] = times;
    expect(times.length).toBeGreaterThan(1);
    const expected = all.filter(({ observed_at }) => observed_at === since);
    const first = await listOf('moves', `since=${since}&until=${until}&limit=1`);
    const rest = first.cursor
      ? await listOf('moves', `since=${since}&until=${until}&limit=1&cursor=${first.cursor}`)
      : { data: [] };
    expect([...first.data, ...rest.data]).toEqual(expected.slice(0, 2));
    expect((await listOf('moves', `until=${times.at(-1)}`)).data).toEqual([]);
  });
});

describe('listBrandSignals 400', () => {
  test.each([
    ['kinds=ad_started', 'kinds.0'],
    ['since=2026-01-01', 'since'],
    ['since=0000-01-01T00:00:00Z', 'since'],
    ['until=9999-01-01T00:00:00Z', 'until'],
    ['since=2026-01-01T00:00:00.5Z&until=2026-01-01T00:00:00.50Z', 'since'],
    ['days=7', 'days'],
    ['cursor=x', 'cursor'],
  ])('rejects %s', async (query, named) => {
    const reply = await on(app).get(`${ofBrand('moves')}?${query}`, { key });
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path: named }] } });
  });
});

describe('listBrandSignals 404', () => {
  test('hides a brand that only another workspace tracks', async () => {
    const other = await stack.key();
    const reply = await on(app).get(ofBrand('moves', other), { key: other });
    expect([reply.status, reply.error.message]).toEqual([404, expect.stringContaining('does not track')]);
  });
});
