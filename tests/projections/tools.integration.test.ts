import { describe, expect, it } from 'vitest';
import { BrandSplitTests, SplitTestCensusItem } from '#contracts/resources/corpus/split-test.ts';
import { Tool } from '#contracts/resources/corpus/tool.ts';
import { brandIdOf, categoryIdOf, derivedId } from '#domain/ids.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { categoryTools } from '#projections/category-tools/project.ts';
import { splitTests } from '#projections/split-tests/project.ts';
import { readSplitTestCensus } from '#projections/split-tests/read.ts';
import { tools } from '#projections/tools/project.ts';
import { findTool, findToolSlug, listTools, readTechStack, readToolsAsOf } from '#projections/tools/read.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import {
  brandEvent,
  siteEvents,
  siteScan,
  siteSplitTest,
  siteTool,
  trafficEvent,
} from '../dsl/site-events.ts';

const HOME = { id: categoryIdOf(['Home']), slug: 'home', name: 'Home' };
const brand = (domain: string, details = {}): GivenEvent =>
  brandEvent(registered(domain, '2026-05-01T00:00:00.000Z', details));
const hidden = (domain: string): GivenEvent => ({
  stream: brand(domain).stream,
  event: {
    type: 'BrandProfileChanged',
    data: {
      brand_id: brandIdOf(domain),
      observed_at: '2026-05-09T00:00:00.000Z',
      changes: { is_public: false },
    },
  },
});

const AB = 'A/B testing';
const [PIXEL, CHAT, ARMS] = [siteTool('pixel'), siteTool('chat', 'live chat'), siteTool('arms', AB)];

const sites = siteEvents(
  siteScan('one.com', '2026-05-02T08:00Z', { tools: [PIXEL, CHAT] }),
  siteScan('two.com', '2026-05-02T09:00Z', { tools: [PIXEL, ARMS] }),
  siteScan('three.com', '2026-05-02T10:00Z', { tools: [PIXEL, CHAT] }),
  siteScan('nobody.com', '2026-05-02T11:00Z', { tools: [PIXEL, ARMS] }),
  siteScan('two.com', '2026-05-03T09:00Z', { tools: [PIXEL] }),
  siteScan('two.com', '2026-05-04T09:00Z', { tools: [{ ...PIXEL, name: 'Pixel', website_url: null }] }),
);
const brands = [brand('one.com'), brand('two.com', { category_path: [HOME] }), brand('three.com')];
const visits = [
  trafficEvent('one.com', '2026-04-01', {
    monthly_visits: 50_000,
    countries: [{ country: 'US', share: 0.8 }],
  }),
  trafficEvent('one.com', '2026-03-01', { monthly_visits: 9 }),
  trafficEvent('two.com', '2026-04-01', { monthly_visits: 20_000_000 }),
];

const ORDERS: readonly (readonly [string, readonly GivenEvent[]])[] = [
  ['brands, then sites', [...brands, ...visits, ...sites]],
  ['sites, then brands', [...sites, ...visits, ...brands]],
  ['traffic first', [...visits, ...sites, ...brands]],
];

describe('tools', () => {
  it.each(ORDERS)('are counted over public brands in any order of events: %s', async (_name, events) => {
    await given(events)
      .into(tools)
      .shows(
        async (db) => {
          const list = async (filter = {}, after: readonly (string | number)[] | null = null) =>
            listTools(db, filter, { limit: 1, after });
          const first = await list();
          const second = await list({}, first.next);
          const found = await findTool(db, { slug: 'pixel' });
          const tool = Tool.parse(
            JSON.parse((found?.item ?? 'null').replaceAll('\u0001', 'https://api.test')),
          );
          return {
            list: [...first.items, ...second.items].map((item) => {
              const { slug, brands: count } = JSON.parse(item.replaceAll('\u0001', ''));
              return `${slug} ${count}`;
            }),
            next: second.next,
            chat: (await list({ category: 'Live Chat' })).items.length,
            name: tool.name,
            website: tool.website_url,
            adoption: tool.adoption_by_category.map(
              ({ category, brands: count, scanned_brands, share }) =>
                `${category.slug} ${count}/${scanned_brands} ${share}`,
            ),
            combinations: tool.common_combinations.map(
              ({ tool: { slug }, brands: count }) => `${slug} ${count}`,
            ),
            split: tool.traffic_split.map(({ visits_from, brands: count }) => `${visits_from} ${count}`),
            asOf: await readToolsAsOf(db),
          };
        },
        {
          list: ['pixel 3', 'chat 2'],
          next: null,
          chat: 1,
          name: 'Pixel',
          website: 'https://pixel.example/',
          adoption: ['apparel 2/2 1', 'home 1/1 1'],
          combinations: ['chat 2'],
          split: ['0 0', '10000 1', '100000 0', '1000000 0', '10000000 1', 'null 1'],
          asOf: '2026-05-04T09:00:00.000Z',
        },
      );
  });

  it('stop counting for a brand that is hidden', async () => {
    await given([...brands, ...sites, hidden('three.com')])
      .into(tools)
      .shows(
        async (db) => {
          const { items } = await listTools(db, {}, { limit: 10, after: null });
          const tool = await findTool(db, { id: derivedId('tool', 'chat') });
          return [
            items.map((item) => JSON.parse(item.replaceAll('\u0001', '')).brands),
            JSON.parse((tool?.item ?? '').replaceAll('\u0001', '')).adoption_by_category,
          ];
        },
        [[2, 1], [expect.objectContaining({ brands: 1, scanned_brands: 1, share: 1 })]],
      );
  });

  it('of a site are listed by tool category, then name, without removed ones', async () => {
    const one = siteEvents(
      siteScan('one.com', '2026-05-02T08:00Z', {
        tools: [siteTool('zebra', 'b'), siteTool('yak', 'A'), siteTool('ant', 'B'), siteTool('gone', 'a')],
      }),
      siteScan('one.com', '2026-05-03T08:00Z', {
        tools: [siteTool('zebra', 'b'), siteTool('yak', 'A'), siteTool('ant', 'B')],
      }),
      siteScan('one.com', '2026-05-04T08:00Z', { tools: [siteTool('yak', 'A'), siteTool('ant', 'B')] }),
    );
    await given([brand('one.com'), ...one])
      .into(tools)
      .shows(
        async (db) => {
          const { items, asOf } = await readTechStack(db, brandIdOf('one.com'));
          return [items.map((item) => JSON.parse(item.replaceAll('\u0001', '')).slug), asOf];
        },
        [['yak', 'ant', 'zebra'], '2026-05-04T08:00:00.000Z'],
      );
  });

  it('stand as in the order of observation when a scan arrives late', async () => {
    const first = siteScan('one.com', '2026-05-01T08:00Z', { tools: [PIXEL, CHAT, ARMS] });
    const others = [
      siteScan('one.com', '2026-05-02T08:00Z', { tools: [PIXEL] }),
      siteScan('one.com', '2026-05-04T08:00Z', { tools: [PIXEL] }),
    ];
    const installed = async (db: ReadDatabase) =>
      db.query({
        sql: `select t.slug, t.present, t.detected_at, t.missing_since, d.brands::int, b.scanned_at::date::text
              from tools.installed t join tools.tool d using (slug) join tools.brand b using (brand_id) order by t.slug`,
        values: [],
      });
    const detected_at = '2026-05-01T08:00:00.000Z';
    const row = (slug: string, present: boolean) => ({
      slug,
      present,
      detected_at,
      missing_since: null,
      brands: present ? 1 : 0,
      scanned_at: '2026-05-04',
    });
    for (const scans of [
      [first, ...others],
      [...others, first],
    ]) {
      const events = [brand('one.com'), ...siteEvents(...scans)];
      await given(events)
        .into(tools)
        .shows(installed, [row('arms', false), row('chat', false), row('pixel', true)]);
      await given(events)
        .into(splitTests)
        .shows(
          (db) =>
            db.query({
              sql: 'select slug, present from split_tests.site_tool order by slug',
              values: [],
            }),
          [{ slug: 'arms', present: false }],
        );
      await given(events)
        .into(categoryTools)
        .shows(
          (db) =>
            db.query({
              sql: 'select slug, present from category_tools.installed order by slug',
              values: [],
            }),
          [
            { slug: 'arms', present: false },
            { slug: 'chat', present: false },
            { slug: 'pixel', present: true },
          ],
        );
    }
  });

  it('are found by slug or id; unknown ones return null', async () => {
    await given(sites)
      .into(tools)
      .shows(
        async (db) => [
          await findToolSlug(db, { id: derivedId('tool', 'arms') }),
          await findToolSlug(db, { slug: 'arms' }),
          await findToolSlug(db, { slug: 'unheard-of' }),
          await findTool(db, { slug: 'unheard-of' }),
        ],
        ['arms', 'arms', null, null],
      );
  });
});

describe('the split-test census', () => {
  const reading = (domain: string, at: string, readable: boolean, ...split_tests: readonly object[]) =>
    siteScan(domain, at, {
      tools: [ARMS, siteTool('dark', AB)],
      split_test_tools: [
        { slug: 'arms', readable },
        { slug: 'dark', readable: false },
      ],
      split_tests: split_tests as never,
    });
  const scans = siteEvents(
    reading('one.com', '2026-05-02T08:00Z', true, siteSplitTest('arms', '1')),
    reading('two.com', '2026-05-02T08:00Z', true, siteSplitTest('arms', '1', { type: 'personalization' })),
    reading('three.com', '2026-05-02T08:00Z', false),
    reading('nobody.com', '2026-05-02T08:00Z', true, siteSplitTest('arms', '1')),
    // A later scan that cannot read the tool leaves the earlier tests unchanged.
    reading('one.com', '2026-05-03T08:00Z', false),
  );
  it.each([
    ['brands, then sites', [...brands, ...scans]],
    ['sites, then brands', [...scans, ...brands]],
  ])(
    'counts public brands and experiments only, and nothing for a tool that cannot be read: %s',
    async (_name, events) => {
      await given(events)
        .into(splitTests)
        .shows(
          async (db) => {
            const { items } = await readSplitTestCensus(db);
            return items
              .map((item) =>
                SplitTestCensusItem.parse(JSON.parse(item.replaceAll('\u0001', 'https://api.test'))),
              )
              .map(({ tool, is_read, brands_installed, brands_read, brands_running }) =>
                [tool.slug, is_read, brands_installed, brands_read, brands_running].join(' '),
              );
          },
          ['arms true 3 2 1', 'dark false 3  '],
        );
    },
  );

  it('stops counting a test as running once it has ended', async () => {
    const ended = siteEvents(
      reading('one.com', '2026-05-02T08:00Z', true, siteSplitTest('arms', '1')),
      reading('one.com', '2026-05-03T08:00Z', true, siteSplitTest('arms', '1', { state: 'ended' })),
    );
    await given([...brands, ...ended])
      .into(splitTests)
      .shows(
        async (db) =>
          JSON.parse((await readSplitTestCensus(db)).items[0]?.replaceAll('\u0001', '') ?? '').brands_running,
        0,
      );
  });
});

it('schemas of split tests have no member for amounts or results', () => {
  const members = JSON.stringify(BrandSplitTests.toJSONSchema({ unrepresentable: 'any' }));
  expect(members).not.toMatch(
    /"(price|amount|shipping_amount|conversions?|revenue|winner|uplift|lift|result)":/,
  );
});
