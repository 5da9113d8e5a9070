import { brandProfile, recordProfile, trafficEstimate } from '#tests/dsl/site-events.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import { trafficStream } from '#contracts/events/corpus/traffic.ts';
import { AUDIENCE_SEGMENTS, segmentsOf } from '#contracts/values/audience-segments.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import { brand } from '#domain/corpus/brand.ts';
import { category, defineCategory } from '#domain/corpus/category.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { recordTrafficEstimate, traffic as trafficDecider } from '#domain/corpus/traffic.ts';
import { categories } from '#projections/categories/project.ts';
import { findCategory, listCategories, listCategorySitemap } from '#projections/categories/read.ts';
import { traffic } from '#projections/traffic/project.ts';
import { readEstimatedSite, readTrajectory } from '#projections/traffic/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { ad, library } from '../dsl/scans.ts';

const at = (day: number): string => `2026-06-${String(day).padStart(2, '0')}T00:00:00.000Z`;
const idOf = (name: string): string => brandIdOf(`${name}.example`);
const bare = (item: string): never => JSON.parse(item.replaceAll('\u0001', '')) as never;

type Profile = Partial<BrandProfile> & { readonly path?: string[] };

const profiled = (name: string, ...profiles: readonly Profile[]): GivenEvent[] => {
  let state = brand.initial;
  return profiles.flatMap(({ path = null, ...said }, index) => {
    const events = recordProfile(
      brandProfile({
        domain: `${name}.example`,
        observed_at: at(index + 1),
        name,
        country: 'US',
        ...said,
        category_path: path,
      }),
    )(state);
    state = events.reduce(brand.evolve, state);
    return events.map((event) => ({ stream: brandStream(idOf(name)), event }));
  });
};

const estimated = (name: string, ...estimates: readonly Partial<TrafficEstimate>[]): GivenEvent[] => {
  let state = trafficDecider.initial;
  return estimates.flatMap((said, index) => {
    const events = recordTrafficEstimate(
      trafficEstimate({ domain: `${name}.example`, observed_at: at(index + 10), ...said }),
    )(state);
    state = events.reduce(trafficDecider.evolve, state);
    return events.map((event) => ({ stream: trafficStream(`${name}.example`), event }));
  });
};

const NOBODY = {
  female: null,
  male: null,
  age_18_24: null,
  age_25_34: null,
  age_35_44: null,
  age_45_54: null,
  age_55_64: null,
  age_65_plus: null,
};
const YOUNG_WOMEN = { ...NOBODY, female: 0.7, male: 0.3, age_18_24: 0.3, age_25_34: 0.3 };

describe('traffic', () => {
  it('keeps every month of a trajectory, oldest first, in any order of arrival', async () => {
    await given(
      estimated(
        'shop',
        { monthly_visits: 1_000, global_rank: 9 },
        { period: '2026-03', monthly_visits: 800 },
        { period: '2026-05', monthly_visits: 1_100, category_rank: 2 },
        { period: '2026-05-20', global_rank: 8 },
      ),
    )
      .into(traffic)
      .shows(async (db) => (await readTrajectory(db, idOf('shop'))).map(bare), [
        { date: '2026-03-01', global_ranking: null, category_ranking: null, monthly_visits: 800 },
        { date: '2026-05-01', global_ranking: 9, category_ranking: 2, monthly_visits: 1_100 },
        { date: '2026-05-20', global_ranking: 8, category_ranking: null, monthly_visits: null },
      ] as never);
  });

  it('shows the demographics of the newest month that has any', async () => {
    const before = { ...NOBODY, female: 0.1 };
    await given(
      estimated(
        'shop',
        { demographics: YOUNG_WOMEN },
        { period: '2026-04', demographics: before },
        { period: '2026-06', monthly_visits: 5 },
      ),
    )
      .into(traffic)
      .shows(
        async (db) => {
          const site = await readEstimatedSite(db, idOf('shop'));
          return { ...site, demographics: bare(site.demographics ?? 'null') };
        },
        { as_of: at(12), demographics: YOUNG_WOMEN as never },
      );
  });

  it('lists public brands in their segments, with the latest visits', async () => {
    const members = async (db: ReadDatabase) =>
      (
        await db.query<{ segment: string; brand_id: string; monthly_visits: string }>({
          sql: 'select segment, brand_id, monthly_visits from traffic.audience order by 1, 2',
          values: [],
        })
      ).map(({ segment, brand_id, monthly_visits }) => `${segment} ${brand_id} ${monthly_visits}`);
    const events = [
      ...estimated(
        'shop',
        { demographics: { ...NOBODY, male: 0.8 }, monthly_visits: 10 },
        { period: '2026-06', demographics: YOUNG_WOMEN },
        { period: '2026-06', monthly_visits: 20 },
      ),
      ...profiled('shop', { path: ['Apparel'] }),
      ...estimated('hidden', { demographics: YOUNG_WOMEN, monthly_visits: 10 }),
      ...profiled('hidden', {}, { is_public: false }),
      ...estimated('unknown', { demographics: YOUNG_WOMEN, monthly_visits: 10 }),
      ...estimated('unvisited', { demographics: YOUNG_WOMEN }),
      ...profiled('unvisited', {}),
    ];
    await given(events)
      .into(traffic)
      .shows(
        members,
        ['gen-z', 'majority-female', 'under-35'].map((segment) => `${segment} ${idOf('shop')} 20`),
      );
  });
});

describe('segments', () => {
  it('depend on the shares alone, and ignore unknown groups', () => {
    expect(segmentsOf(NOBODY)).toEqual([]);
    expect(segmentsOf({ ...NOBODY, female: 0.5, male: 0.5 })).toEqual([]);
    expect(segmentsOf({ ...NOBODY, age_45_54: 0.1, age_55_64: 0.2, age_65_plus: 0.2 })).toEqual([
      'senior',
      'over-45',
    ]);
    expect(segmentsOf(YOUNG_WOMEN)).toEqual(['majority-female', 'gen-z', 'under-35']);
  });

  it('are never lost when a share they require grows', () => {
    const share = fc.integer({ min: 0, max: 100 }).map((hundredths) => hundredths / 100);
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(AUDIENCE_SEGMENTS)), share, share, (rule, one, more) => {
        const [group = 'female'] = rule.of;
        const [least, most] = [Math.min(one, more), Math.max(one, more)];
        const before = segmentsOf({ ...NOBODY, [group]: least });
        expect(segmentsOf({ ...NOBODY, [group]: most })).toEqual(expect.arrayContaining([...before]));
      }),
    );
  });
});

const scanned = (name: string, ads: number): GivenEvent[] => {
  const shop = library();
  const events = shop.scan(
    { at: at(20) },
    Array.from({ length: ads }, (_, index) => ad(index + 1)),
  );
  return events.map((event) => ({
    stream: adLibraryStream(idOf(name)),
    event: { ...event, data: { ...event.data, brand_id: idOf(name) } },
  }));
};

const defined = (path: string[], description: string, day: number): GivenEvent[] =>
  defineCategory({
    type: 'category.define',
    observed_at: at(day),
    path,
    level: null,
    taxonomy: 'shop-taxonomy',
    taxonomy_id: '7',
    description,
  })(category.initial).map((event) => ({ stream: categoryStream(categoryIdOf(path)), event }));

describe('categories', () => {
  const totalsOf = async (db: ReadDatabase, ...path: string[]) => {
    const { item = 'null' } = (await findCategory(db, categoryIdOf(path))) ?? {};
    const found = bare(item) as { totals: object } | null;
    return found && { ...found.totals };
  };
  const of = (brands: number, ads: number, withTraffic: number, visits: number | null) => ({
    brands,
    active_ads: ads,
    total_ads: ads,
    brands_with_traffic: withTraffic,
    monthly_visits: visits,
  });

  it('roll up over three levels, follow a brand that moves, and omit brands that are not public', async () => {
    const boots = ['Apparel', 'Shoes', 'Boots'];
    await given([
      ...profiled('one', { path: boots }),
      ...profiled('two', { path: ['Pets'] }, { path: ['Apparel', 'Hats'] }, { path: ['Apparel', 'Shoes'] }),
      ...profiled('three', { path: boots }, { is_public: false }),
      ...scanned('one', 3),
      ...scanned('two', 2),
      ...scanned('three', 4),
      ...estimated('one', { monthly_visits: 10 }, { period: '2026-06', monthly_visits: 30 }),
      ...estimated('three', { monthly_visits: 5 }),
      ...estimated('nobody', { monthly_visits: 5 }),
    ])
      .into(categories)
      .shows(
        async (db) => [
          await totalsOf(db, ...boots),
          await totalsOf(db, 'Apparel', 'Shoes'),
          await totalsOf(db, 'Apparel'),
          await totalsOf(db, 'Apparel', 'Hats'),
          await totalsOf(db, 'Pets'),
          await totalsOf(db, 'Nothing'),
        ],
        [of(1, 3, 1, 30), of(2, 5, 1, 30), of(2, 5, 1, 30), of(0, 0, 0, null), of(0, 0, 0, null), null],
      );
  });

  it('are listed by name with parent, children and definition', async () => {
    await given([
      ...profiled('two', { path: ['pets'], observed_at: at(3) }),
      ...profiled('one', { path: ['Apparel', 'Shoes'], observed_at: at(2) }),
      ...profiled('three', { path: ['PETS', 'Dogs'], observed_at: at(1), is_public: false }),
      ...defined(['apparel', 'SHOES'], 'For feet.', 5),
      ...defined(['Apparel', 'Gloves'], 'For hands.', 5),
    ])
      .into(categories)
      .shows(
        async (db) => {
          const listed = async (filter: object, limit = 10, after: (string | number)[] | null = null) => {
            const page = await listCategories(db, filter, { limit, after });
            return page.items
              .map(bare)
              .map(({ name, level, parent, children, description }: never) => [
                name,
                level,
                (parent as { name: string } | null)?.name ?? null,
                children,
                description,
              ]);
          };
          const first = await listCategories(db, {}, { limit: 1, after: null });
          return {
            top: await listed({}),
            second: await listed({}, 1, [...(first.next ?? [])]),
            below: await listed({ parentId: categoryIdOf(['Apparel']) }),
            named: await listed({ slug: 'dogs' }),
            both: await listed({ slug: 'dogs', parentId: categoryIdOf(['Apparel']) }),
            sitemap: (await listCategorySitemap(db, { limit: 10, after: null })).items.map(bare),
          };
        },
        {
          top: [
            ['Apparel', 1, null, 2, null],
            ['PETS', 1, null, 1, null],
          ],
          second: [['PETS', 1, null, 1, null]],
          below: [
            ['Gloves', 2, 'Apparel', 0, 'For hands.'],
            ['SHOES', 2, 'Apparel', 0, 'For feet.'],
          ],
          named: [['Dogs', 2, 'PETS', 0, null]],
          both: [],
          sitemap: expect.arrayContaining([
            // Named by the path of a definition, which wins over the brand profile of day 2.
            { slug: 'apparel', url: `/v1/categories/${categoryIdOf(['Apparel'])}`, updated_at: at(5) },
            { slug: 'pets', url: `/v1/categories/${categoryIdOf(['Pets'])}`, updated_at: at(3) },
            { slug: 'shoes', url: expect.any(String), updated_at: at(5) },
          ]),
        } as never,
      );
  });
});
