import { brandProfile, recordProfile } from '#tests/dsl/site-events.ts';
import { describe, expect, it } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { brandIdOf } from '#domain/ids.ts';
import { ads } from '#projections/ads/project.ts';
import { findAd, listBrandAds, searchAds } from '#projections/ads/read.ts';
import { brands } from '#projections/brands/project.ts';
import { findBrand, listBrands } from '#projections/brands/read.ts';
import { dailyActivity } from '#projections/daily-activity/project.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { freshness } from '#projections/freshness/project.ts';
import { listTrackedFreshness, readFreshness } from '#projections/freshness/read.ts';
import { radar } from '#projections/radar/project.ts';
import { listRadar } from '#projections/radar/read.ts';
import { rankings } from '#projections/rankings/project.ts';
import { listRisers } from '#projections/rankings/read.ts';
import { velocity } from '#projections/velocity/project.ts';
import { readVelocity } from '#projections/velocity/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { ad, BRAND, library, PAGE } from '../dsl/scans.ts';

const profileOf = (domain: string): GivenEvent[] =>
  recordProfile(
    brandProfile({
      domain,
      observed_at: '2026-05-01T00:00:00.000Z',
      description: 'Socks.',
      country: 'US',
      category_path: ['Apparel', 'Socks'],
      is_public: true,
      indexable: true,
    }),
  )(null).map((event) => ({ stream: brandStream(brandIdOf(domain)), event }));
const profile = profileOf('shop.example');

/** Two weeks of one shop: a baseline, news, a stop by absence, a return, a new destination. */
const story = (): GivenEvent[] => {
  const shop = library();
  const one = ad(1, {
    started_on: '2026-04-20',
    format: 'video',
    title: 'Warm socks',
    body: 'For cold feet',
    link_url: 'https://shop.example/a',
  });
  const two = ad(2, { started_on: '2026-04-21', format: 'image', body: 'Thin socks' });
  const three = ad(3, { started_on: '2026-05-05', format: 'image', title: 'New socks', body: 'Striped' });
  const moved = { ...one, link_url: 'https://shop.example/b' };
  return [
    shop.scan({ at: '2026-05-04T10:00Z' }, [one, two]),
    shop.scan({ at: '2026-05-05T10:00Z' }, [one, three]),
    shop.scan({ at: '2026-05-06T10:00Z' }, [moved, three]),
    shop.scan({ at: '2026-05-07T10:00Z', complete: false }, [three]),
    shop.scan({ at: '2026-05-14T10:00Z' }, [moved, two, three]),
  ]
    .flat()
    .map((event) => ({ stream: adLibraryStream(BRAND), event }));
};

const everything = (): GivenEvent[] => [...profile, ...story()];
const firstPage = { limit: 10, after: null };

describe('brands', () => {
  it('shows a brand with counters as of its last scan', async () => {
    await given(everything())
      .into(brands)
      .shows(
        async (db) =>
          JSON.parse((await findBrand(db, { id: BRAND }))?.detail.replaceAll('\u0001', '') ?? 'null'),
        {
          id: BRAND,
          slug: 'shop',
          name: 'Shop',
          domain: 'shop.example',
          url: '/v1/brands/shop',
          logo_url: null,
          country: 'US',
          category: expect.objectContaining({ slug: 'apparel', name: 'Apparel' }),
          mid_category: expect.objectContaining({ slug: 'socks' }),
          active_ads: 3,
          total_ads: 3,
          new_ads_7d: 0,
          indexable: true,
          as_of: '2026-05-14T10:00:00.000Z',
          description: 'Socks.',
          inactive_ads: 0,
          new_ads_30d: 1,
          retired_ads_7d: 0,
          retired_ads_30d: 1,
          avg_ad_lifespan_days: null,
          last_ad_seen_at: '2026-05-14',
          formats: { video: 1, image: 2, carousel: 0, dco: 0, other: 0 },
          top_countries: [{ country: 'US', ads: 3 }],
        },
      );
  });

  it('lists by category, country, letter and part of the name', async () => {
    await given(everything())
      .into(brands)
      .shows(
        async (db) => {
          const found = await listBrands(db, { sort: 'active_ads' }, firstPage);
          const category = JSON.parse((found.items[0] ?? 'null').replaceAll('\u0001', '')).category.id;
          const counts = [];
          for (const filter of [
            { categoryId: category },
            { country: 'US' },
            { country: 'DE' },
            { letter: 's' },
            { letter: 'h' },
            { q: 'HO' },
            { q: '%' },
          ]) {
            counts.push((await listBrands(db, { sort: 'name', ...filter }, firstPage)).items.length);
          }
          return counts;
        },
        [1, 1, 0, 1, 0, 1, 0],
      );
  });
});

describe('daily activity and velocity', () => {
  it('shows observed days only, and marks reliable ones', async () => {
    await given(everything())
      .into(dailyActivity)
      .shows(
        async (db) => (await readDailyActivity(db, BRAND, {})).items.map((item) => JSON.parse(item)),
        [
          { date: '2026-05-04', active_ads: 2, new_ads: 0, retired_ads: 0, reliable: true },
          { date: '2026-05-05', active_ads: 3, new_ads: 1, retired_ads: 0, reliable: true },
          { date: '2026-05-06', active_ads: 2, new_ads: 0, retired_ads: 1, reliable: true },
          { date: '2026-05-07', active_ads: 2, new_ads: 0, retired_ads: 0, reliable: false },
          { date: '2026-05-14', active_ads: 3, new_ads: 0, retired_ads: 0, reliable: true },
        ],
      );
  });

  it('rolls days up to ISO weeks', async () => {
    await given(everything())
      .into(velocity)
      .shows(
        async (db) => (await readVelocity(db, BRAND, 12)).items.map((item) => JSON.parse(item)),
        [
          { week_start: '2026-05-04', active_ads: 2, new_ads: 1, retired_ads: 1, reliable_days: 3 },
          { week_start: '2026-05-11', active_ads: 3, new_ads: 0, retired_ads: 0, reliable_days: 1 },
        ],
      );
  });
});

describe('freshness', () => {
  const trackedAt = '2026-05-01T00:00:00.000Z';
  const by = (workspace_id: string, brand_id = BRAND) => ({
    stream: trackingStream(workspace_id),
    data: { workspace_id, brand_id },
  });
  const tracked = (workspace_id: string, cadence: 'daily' | 'weekly', brand_id = BRAND): GivenEvent => {
    const { stream, data } = by(workspace_id, brand_id);
    return { stream, event: { type: 'BrandTracked', data: { ...data, cadence, tracked_at: trackedAt } } };
  };

  it('uses the most demanding cadence of all trackers', async () => {
    const shown = (freshness_tier: string, next_due: string) => ({
      as_of: '2026-05-14T10:00:00.000Z',
      last_reliable_at: '2026-05-14T10:00:00.000Z',
      next_due,
      freshness_tier,
    });
    await given(everything())
      .into(freshness)
      .shows((db) => readFreshness(db, BRAND), shown('census', '2026-06-13T10:00:00.000Z') as never);
    await given([...everything(), tracked('a', 'weekly'), tracked('b', 'daily')])
      .into(freshness)
      .shows((db) => readFreshness(db, BRAND), shown('daily', '2026-05-15T10:00:00.000Z') as never);
  });

  it('lists tracked brands by how overdue they are, with their cadence and tier', async () => {
    const other = brandIdOf('other.example');
    const unknown = '00000000-0000-4000-8000-000000000002';
    const { stream, data } = by('a');
    const events: GivenEvent[] = [
      tracked('a', 'weekly'),
      tracked('a', 'daily', other),
      tracked('a', 'daily', unknown),
      tracked('b', 'daily'),
      {
        stream,
        event: { type: 'TrackingCadenceChanged', data: { ...data, cadence: 'daily', changed_at: trackedAt } },
      },
      ...everything(),
      ...profileOf('other.example'),
      {
        stream: by('b').stream,
        event: { type: 'BrandUntracked', data: { ...by('b').data, untracked_at: trackedAt } },
      },
    ];
    const shown = async (db: ReadDatabase) => {
      const list = async (workspace: string) => {
        const items = await listTrackedFreshness(db, workspace, new Date('2026-05-14T13:30:00.000Z'));
        const parsed = JSON.parse(`[${items.join().replaceAll('\u0001', '')}]`) as Record<string, unknown>[];
        return parsed.map(({ brand, freshness: fresh, ...rest }) => [
          (brand as { slug: string }).slug,
          (fresh as { as_of: string | null; freshness_tier: string }).as_of,
          (fresh as { freshness_tier: string }).freshness_tier,
          rest,
        ]);
      };
      return { a: await list('a'), b: await list('b') };
    };
    const slo_hours = 36;
    await given(events)
      .into(freshness)
      .shows(shown, {
        a: [
          [
            'other',
            null,
            'daily',
            { cadence: 'daily', slo_hours, hours_since_reliable: 325, slo_status: 'breached' },
          ],
          [
            'shop',
            '2026-05-14T10:00:00.000Z',
            'daily',
            { cadence: 'daily', slo_hours, hours_since_reliable: 3, slo_status: 'ok' },
          ],
        ],
        b: [],
      });
  });
});

describe('radar', () => {
  it('pages through news, newest first, without gaps or repeats', async () => {
    await given(everything())
      .into(radar)
      .shows(
        async (db) => {
          const filter = { brandIds: [BRAND], since: '2026-05-01T00:00:00.000Z' };
          const items = [];
          for (let after: readonly (string | number)[] | null = null, more = true; more; ) {
            const page = await listRadar(db, filter, { limit: 1, after });
            items.push(...page.items.map((item) => JSON.parse(item.replaceAll('\u0001', ''))));
            more = page.next !== null;
            after = page.next;
          }
          const sortKey = (item: { observed_at: string; type: string }) => `${item.observed_at} ${item.type}`;
          return items
            .toSorted((a, b) => (sortKey(a) < sortKey(b) ? 1 : -1))
            .map(({ type, observed_at, ad: { id, url }, brand, ...item }) => ({
              type,
              observed_at,
              ad: { id, url },
              slug: brand.slug,
              to: item.destination_url,
              from: item.previous_destination_url,
              basis: item.basis,
            }));
        },
        [
          {
            type: 'destination_changed',
            observed_at: '2026-05-06T10:00:00.000Z',
            ad: { id: '9999999991', url: '/v1/ads/9999999991' },
            slug: 'shop',
            to: 'https://shop.example/b',
            from: 'https://shop.example/a',
            basis: null,
          },
          {
            type: 'ad_stopped',
            observed_at: '2026-05-06T10:00:00.000Z',
            ad: { id: '9999999992', url: '/v1/ads/9999999992' },
            slug: 'shop',
            to: null,
            from: null,
            basis: 'absence',
          },
          {
            type: 'ad_started',
            observed_at: '2026-05-05T10:00:00.000Z',
            ad: { id: '9999999993', url: '/v1/ads/9999999993' },
            slug: 'shop',
            to: null,
            from: null,
            basis: null,
          },
        ],
      );
  });
});

describe('ads', () => {
  it('shows an ad with its observation window and history', async () => {
    await given(everything())
      .into(ads)
      .shows(
        async (db) => {
          const { json = 'null' } = (await findAd(db, '9999999992')) ?? {};
          const { status, first_seen_at, last_seen_at, days_active, history } = JSON.parse(
            json.replaceAll('\u0001', ''),
          );
          return {
            status,
            first_seen_at,
            last_seen_at,
            days_active,
            history: history.map(({ change }: { change: string }) => change),
          };
        },
        {
          status: 'active',
          first_seen_at: '2026-05-04T10:00:00.000Z',
          last_seen_at: '2026-05-14T10:00:00.000Z',
          days_active: 23,
          history: ['returned', 'confirmed_inactive', 'started'],
        },
      );
  });

  it('finds ads by words of their copy, and lists a brand’s ads newest start first', async () => {
    const ids = (items: readonly string[]) => items.map((item) => JSON.parse(item).id);
    await given(everything())
      .into(ads)
      .shows(
        async (db) => [
          ids((await searchAds(db, { q: 'socks' }, firstPage)).items),
          ids((await searchAds(db, { q: 'cold feet', format: 'video' }, firstPage)).items),
          ids(
            (
              await searchAds(
                db,
                { q: 'socks -striped', status: 'active', country: 'US', brandId: BRAND },
                firstPage,
              )
            ).items,
          ),
          ids((await searchAds(db, { startedSince: '2026-05-01' }, firstPage)).items),
          ids((await listBrandAds(db, BRAND, firstPage)).items),
        ],
        [
          ['9999999993', '9999999992', '9999999991'],
          ['9999999991'],
          ['9999999992', '9999999991'],
          ['9999999993'],
          ['9999999993', '9999999992', '9999999991'],
        ],
      );
  });

  it('shows a missing ad with the time of the last scan that showed it', async () => {
    const shop = library();
    const events = [
      shop.scan({ at: '2026-05-01T10:00Z' }, [ad(1), ad(2)]),
      shop.scan({ at: '2026-05-02T10:00Z' }, [ad(1), ad(2)]),
      shop.scan({ at: '2026-05-03T10:00Z' }, [ad(1)]),
    ].flat();
    await given([...profile, ...events.map((event) => ({ stream: adLibraryStream(BRAND), event }))])
      .into(ads)
      .shows(
        async (db) => {
          const { json = 'null' } = (await findAd(db, '9999999992')) ?? {};
          const { status, last_seen_at, page } = JSON.parse(json.replaceAll('\u0001', ''));
          return { status, last_seen_at, page: page.page_id };
        },
        { status: 'missing', last_seen_at: '2026-05-02T10:00:00.000Z', page: PAGE },
      );
  });
});

describe('rankings', () => {
  it('compares the latest reliable day with one 7 to 28 days earlier', async () => {
    await given(everything())
      .into(rankings)
      .shows(
        async (db) => (await listRisers(db, {}, firstPage)).rows.map((row) => ({ ...row })),
        [
          {
            brand_id: BRAND,
            rank: 1,
            active_ads: 3,
            previous_active_ads: 2,
            growth: 1,
            growth_rate: 0.5,
            day: '2026-05-14',
            previous_day: '2026-05-06',
          },
        ],
      );
  });
});
