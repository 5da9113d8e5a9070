import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { place, type Placement } from '../../reference/service/placement.ts';
import { at, dateOf, link, profile, scan, shown, worldWith } from '../../reference/sketch.ts';
import type { WorldObservation } from '../../reference/world.ts';
import { BASE_URL, openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
/** Noon of the ninth day of the sketched worlds. */
const clock = { now: () => new Date(at(8, '12:00')) };
const [app, key] = await Promise.all([stack.api({ clock }), stack.key()]);
const get = (path: string) => on(app).get(path, { key });

let worlds = 0;
const record = async (...observations: readonly WorldObservation[]): Promise<Placement & { id: string }> => {
  worlds += 1;
  const world = worldWith(profile(at(0, '01:00'), 'b1.example'), ...observations);
  const placement = place(world, worlds);
  await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
  for (const message of world.observations.flatMap(placement.messagesOf)) await intake.submit(message);
  await untilPassed(stack.pool, await stack.eventStore.head());
  return { ...placement, id: placement.brandIdOf('b1.example') };
};

const EMPTY = { from: '2026-02-19', to: '2026-03-18', count: 0, dates: [] };

describe('getBrandCoverage 200', () => {
  test('tells of each linked page the last complete scan in each country', async () => {
    const { id, pageOf } = await record(
      link(at(1, '02:00'), 'P1'),
      link(at(2, '02:00'), 'P2'),
      scan('s1', at(2), [], { pages: ['P1', 'P2'], countries: ['US'] }),
      scan('s2', at(3), [], { pages: ['P1'], countries: ['GB', 'US'], collector: 'c2' }),
      scan('s3', at(4), [shown()], { pages: ['P1'], complete: false }),
    );
    const { data } = await get(`/v1/brands/${id}/coverage`);
    const { pages } = data as { pages: { page: { page_id: string } }[] };
    expect(pages.map(({ page, ...coverage }) => ({ ...coverage, page: pageOf(page.page_id) }))).toEqual([
      {
        page: 'P1',
        role: 'OFFICIAL',
        linked_since: at(1, '02:00'),
        complete_scans: [
          { country: 'GB', scanned_at: at(3), collector: 'c2' },
          { country: 'US', scanned_at: at(3), collector: 'c2' },
        ],
      },
      {
        page: 'P2',
        role: 'OFFICIAL',
        linked_since: at(2, '02:00'),
        complete_scans: [{ country: 'US', scanned_at: at(2), collector: 'c1' }],
      },
    ]);
    expect(data).toMatchObject({
      pages_total: 2,
      reliable_days: { from: '2026-02-19', to: dateOf(8), count: 1, dates: [dateOf(2)] },
      incomplete_scans: { count: 1, newest: [{ scanned_at: at(4), countries: ['US'], collector: 'c1' }] },
    });
  });

  test('begins a link again after it ended', async () => {
    const { id } = await record(
      link(at(1), 'P1'),
      link(at(2), 'P1', 'b1.example', { linked: false }),
      link(at(3), 'P1'),
      link(at(4), 'P1'),
    );
    const { data } = await get(`/v1/brands/${id}/coverage`);
    expect(data).toMatchObject({ pages: [{ linked_since: at(3), complete_scans: [] }] });
  });

  test('tells what was never observed, and since when the brand is known', async () => {
    const { id } = await record();
    const { data } = await get(`/v1/brands/${id}/coverage`);
    const { sources, ...coverage } = data as {
      sources: { source: string; last_observed_on: string | null }[];
    };
    expect(coverage).toMatchObject({
      known_since: at(0, '01:00'),
      pages: [],
      pages_total: 0,
      reliable_days: EMPTY,
      incomplete_scans: { count: 0, newest: [] },
    });
    expect(sources.filter(({ last_observed_on }) => last_observed_on !== null)).toEqual([
      { source: 'profile', last_observed_on: dateOf(0) },
    ]);
  });
});

describe('getBrandCoverage 404', () => {
  test('for a brand that is unknown', async () => {
    expect((await get(`/v1/brands/${randomUUID()}/coverage`)).status).toBe(404);
  });
});

describe('an empty list about one brand', () => {
  const LISTS = [
    'ads',
    'ads/search',
    'daily-activity',
    'velocity',
    'social-pages',
    'tech-stack',
    'similar',
    'operators',
    'partnerships',
    'copy-reuse',
    'store',
  ];
  test('names the address of the coverage', async () => {
    const { id } = await record();
    const paths = [
      ...LISTS.map((list) => `/v1/brands/${id}/${list}`),
      `/v1/ads?brand_id=${id}`,
      `/v1/pages?brand_id=${id}`,
    ];
    const links = await Promise.all(paths.map(async (path) => [path, (await get(path)).headers['link']]));
    const wanted = `<${BASE_URL}/v1/brands/${id}/coverage>; rel="describedby"`;
    expect(links).toEqual(paths.map((path) => [path, wanted]));
  });

  test('names it as rows, too', async () => {
    const { id } = await record();
    const { headers } = await app.inject({
      url: `/v1/brands/${id}/ads`,
      headers: { authorization: `Bearer ${key.text}`, accept: 'text/csv' },
    });
    expect(headers['link']).toBe(`<${BASE_URL}/v1/brands/${id}/coverage>; rel="describedby"`);
  });

  test('is the only one that does', async () => {
    const { id } = await record(scan('s1', at(1), [shown()]));
    const full = await get(`/v1/brands/${id}/ads`);
    const unnamed = await get('/v1/ads?q=words-of-no-ad');
    expect([full.headers['link'], unnamed.headers['link']]).toEqual([undefined, undefined]);
  });
});

/** P1 is scanned completely each day, and so it shows the ads. */
const daily = (
  days: number,
  ads: (day: number) => readonly string[],
  fields: (day: number) => object = () => ({}),
) =>
  Array.from({ length: days }, (_, day) =>
    scan(
      `s${day + 1}`,
      at(day),
      ads(day).map((ad) => shown(ad)),
      fields(day),
    ),
  );

describe('getBrandBounds 200', () => {
  test('has equal bounds of active ads after a complete scan of every linked page', async () => {
    const { id } = await record(link(at(0, '02:00'), 'P1'), ...daily(2, () => ['a1', 'a2']));
    const { data } = await get(`/v1/brands/${id}/bounds?figure=active_ads`);
    expect(data).toMatchObject({
      value: 2,
      at_least: 2,
      at_most: 2,
      pages: 1,
      countries: ['US'],
      uncovered_days: [],
      narrowed_by: [],
      narrowed_by_total: 0,
    });
  });

  test('counts missing ads as those that may run', async () => {
    const { id } = await record(
      link(at(0, '02:00'), 'P1'),
      ...daily(2, (day) => (day === 0 ? ['a1', 'a2'] : ['a1'])),
    );
    const { data } = await get(`/v1/brands/${id}/bounds?figure=active_ads`);
    expect(data).toMatchObject({ value: 2, at_least: 1, at_most: 2 });
  });

  test('counts only the ads that scans of the newest day showed as those that run', async () => {
    const { id } = await record(
      link(at(0, '02:00'), 'P1'),
      link(at(0, '03:00'), 'P2'),
      scan('s1', at(0), [shown()], { pages: ['P1'] }),
      scan('s2', at(1), [shown('a2', { page: 'P2' })], { pages: ['P2'] }),
    );
    const { data } = await get(`/v1/brands/${id}/bounds?figure=active_ads`);
    expect(data).toMatchObject({ value: 2, at_least: 1, at_most: null });
  });

  test('is not bounded from above by a day that left out a page or country, and names the scans', async () => {
    const { id, pageOf } = await record(
      link(at(0, '02:00'), 'P1'),
      link(at(0, '03:00'), 'P2'),
      scan('s1', at(0), [shown()], { pages: ['P1', 'P2'], countries: ['GB', 'US'] }),
      scan('s2', at(1), [shown()], { pages: ['P1'], countries: ['US'] }),
    );
    const { data } = await get(`/v1/brands/${id}/bounds?figure=active_ads`);
    const { narrowed_by, ...bounds } = data as { narrowed_by: { page_id: string }[] };
    expect(bounds).toMatchObject({
      value: 1,
      at_least: 1,
      at_most: null,
      uncovered_days: [dateOf(1)],
      narrowed_by_total: 3,
    });
    expect(narrowed_by.map(({ page_id, ...one }) => ({ ...one, page: pageOf(page_id) }))).toEqual([
      { page: 'P1', country: 'GB', day: dateOf(1) },
      { page: 'P2', country: 'GB', day: dateOf(1) },
      { page: 'P2', country: 'US', day: dateOf(1) },
    ]);
  });

  test('has equal bounds of a window whose days were all covered, and of the days before it', async () => {
    const { id } = await record(
      link(at(0, '02:00'), 'P1'),
      ...daily(8, (day) => (day < 4 ? ['a1', 'a2'] : ['a1'])),
    );
    const window = `from=${dateOf(4)}&to=${dateOf(6)}`;
    const { data } = await get(`/v1/brands/${id}/bounds?figure=retired_ads&${window}`);
    expect(data).toMatchObject({ value: 1, at_least: 1, at_most: 1, uncovered_days: [] });
  });

  test('lists the days without reliable scans, and keeps what started by the library', async () => {
    const started = (day: number) => shown('a2', { startedOn: dateOf(day) });
    const { id } = await record(
      link(at(0, '02:00'), 'P1'),
      scan('s1', at(0), [shown()]),
      scan('s2', at(3), [shown(), started(2), shown('a3', { startedOn: dateOf(3) })]),
    );
    const { data } = await get(`/v1/brands/${id}/bounds?figure=new_ads&from=${dateOf(3)}&to=${dateOf(4)}`);
    expect(data).toMatchObject({
      value: 2,
      at_least: 1,
      at_most: null,
      uncovered_days: [dateOf(2), dateOf(4)],
    });
  });

  test('has no upper bound of a window that is not over', async () => {
    const { id } = await record(link(at(0, '02:00'), 'P1'), ...daily(9, () => ['a1']));
    const bounds = async (to: number) =>
      (await get(`/v1/brands/${id}/bounds?figure=new_ads&from=${dateOf(5)}&to=${dateOf(to)}`)).data;
    expect([await bounds(7), await bounds(8)]).toMatchObject([{ at_most: 0 }, { at_most: null }]);
  });

  test('bounds all ads ever observed from below only', async () => {
    const { id } = await record(scan('s1', at(1), [shown(), shown('a2')]));
    const { data } = await get(`/v1/brands/${id}/bounds?figure=total_ads`);
    expect(data).toMatchObject({ at_least: 2, at_most: null, narrowed_by: [] });
  });

  test.each([
    ['that was never scanned', []],
    ['without linked pages', [scan('s1', at(1), [])]],
  ])('bounds the ads of a brand %s not from above', async (_, observations) => {
    const { id } = await record(...observations);
    const { data } = await get(`/v1/brands/${id}/bounds?figure=active_ads`);
    expect(data).toMatchObject({ value: 0, at_least: 0, at_most: null });
  });
});

describe('getBrandBounds 400', () => {
  test.each([
    ['without a figure', '', 'figure', 'invalid_value'],
    ['for an unknown figure', 'figure=spend', 'figure', 'invalid_value'],
    ['for a window without an end', 'figure=new_ads&from=2026-03-10', 'to', 'custom'],
    ['for the window of a figure without one', 'figure=active_ads&to=2026-03-10', 'to', 'custom'],
    ['for a reversed window', 'figure=new_ads&from=2026-03-11&to=2026-03-10', 'from', 'custom'],
    ['for more than 366 days', 'figure=new_ads&from=2025-01-01&to=2026-03-10', 'to', 'custom'],
    ['for a day to come', 'figure=new_ads&from=2026-03-10&to=2026-03-19', 'to', 'window_in_future'],
  ])('%s', async (_, query, path, code) => {
    const reply = await get(`/v1/brands/${randomUUID()}/bounds?${query}`);
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path, code }] } });
  });
});

describe('getBrandBounds 404', () => {
  test('for a brand that is unknown', async () => {
    expect((await get(`/v1/brands/${randomUUID()}/bounds?figure=active_ads`)).status).toBe(404);
  });
});
