import { describe, expect, it } from 'vitest';
import { categoryIdOf } from '#domain/ids.ts';
import { copyKeyOf, socialPages } from '#projections/social-pages/project.ts';
import { listReusedCopy, listSocialPages, readLeakage } from '#projections/social-pages/read.ts';
import {
  listHubs,
  readNetworkOfBrand,
  readNetworkOfCategory,
} from '#projections/social-pages/read-network.ts';
import { readNewestScan } from '#projections/shared-tables/applied-scan.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import {
  at,
  brand,
  comeBack,
  describePage,
  detail,
  idOf,
  link,
  parsed,
  publish,
  quarantine,
  revise,
  reword,
  scanned,
  start,
  stop,
  unlink,
} from './fixtures/network-events.ts';

const [OWN, REGION, CREATOR, OTHER] = ['100000001', '100000002', '100000003', '100000004'] as const;
const ad = (place: number): string => `90000000${String(place).padStart(2, '0')}`;

/** A brand with ads on every kind of page, and with ads whose page is named only later. */
const lives = (): GivenEvent[] => [
  brand('a'),
  link('a', OWN),
  link('a', REGION, 'REGIONAL', 0.9),
  link('a', CREATOR, 'CREATOR', 0.7),
  start('a', ad(1), { page: OWN }),
  start('a', ad(2), { page: OWN }),
  start('a', ad(3), { page: REGION }),
  start('a', ad(4), { page: CREATOR }),
  start('a', ad(5), { page: OTHER }),
  start('a', ad(6)),
  start('a', ad(7)),
  stop('a', ad(2), { page: OWN }),
  stop('a', ad(4), { page: CREATOR }),
  comeBack('a', ad(4), { page: CREATOR }),
  detail('a', ad(7), { page: OTHER }),
];

describe('social pages of a brand', () => {
  it('lists linked pages, most ads first, with counts that follow the ads', async () => {
    await given(lives())
      .into(socialPages)
      .shows(
        async (db) =>
          parsed((await listSocialPages(db, idOf('a'))).items).map(
            ({ page_id, role, confidence, active_ads, total_ads }) => [
              page_id,
              role,
              confidence,
              active_ads,
              total_ads,
            ],
          ),
        [
          [OWN, 'OFFICIAL', 1, 1, 2],
          [REGION, 'REGIONAL', 0.9, 1, 1],
          [CREATOR, 'CREATOR', 0.7, 1, 1],
        ] as unknown[][],
      );
  });

  it('omits unlinked and quarantined pages, in any order of ads and links', async () => {
    await given([...lives(), unlink('a', REGION), quarantine('a', CREATOR)])
      .into(socialPages)
      .shows(
        async (db) =>
          parsed((await listSocialPages(db, idOf('a'))).items).map(({ page_id }) => page_id as string),
        [OWN],
      );
  });

  it('shows the newest source’s profile, and the profile of each source', async () => {
    await given([
      link('a', OWN, 'UNVERIFIED', 0.4),
      describePage(OWN, 'library', 2, { page_name: 'Shop', followers: 100, likes: 90, verified: true }),
      describePage(OWN, 'page', 3, { followers: 120, category: 'Shoe shop' }),
      describePage(OWN, 'page', 4, { username: 'shop' }),
    ])
      .into(socialPages)
      .shows(async (db) => parsed((await listSocialPages(db, idOf('a'))).items), [
        {
          page_id: OWN,
          page_name: 'Page 100000001',
          role: 'UNVERIFIED',
          confidence: 0.4,
          active_ads: 0,
          total_ads: 0,
          username: 'shop',
          page_category: 'Shoe shop',
          verified: true,
          followers: 120,
          likes: 90,
          profiles: [
            {
              source: 'page',
              observed_at: at(4),
              page_name: null,
              username: 'shop',
              page_category: 'Shoe shop',
              verified: null,
              followers: 120,
              likes: null,
            },
            {
              source: 'library',
              observed_at: at(2),
              page_name: 'Shop',
              username: null,
              page_category: null,
              verified: true,
              followers: 100,
              likes: 90,
            },
          ],
        },
      ] as never);
  });
});

describe('leakage', () => {
  it('counts active ads by the owner of the page that runs them', async () => {
    await given(lives())
      .into(socialPages)
      .shows(async (db) => JSON.parse((await readLeakage(db, idOf('a'))).data), {
        active_ads: 6,
        own_page_ads: 2,
        third_party_ads: 1,
        unlinked_page_ads: 2,
        unnamed_page_ads: 1,
        own_pages: 2,
        third_party_pages: 1,
        unlinked_pages: 1,
        largest_third_party_pages: [
          { page: { page_id: CREATOR, page_name: `Page ${CREATOR}` }, role: 'CREATOR', active_ads: 1 },
        ],
      });
  });

  it('counts a page as a third party only while it is linked to some brand', async () => {
    const counts = async (db: Parameters<typeof readLeakage>[0]) => {
      const { third_party_ads, unlinked_page_ads, largest_third_party_pages } = JSON.parse(
        (await readLeakage(db, idOf('a'))).data,
      );
      return { third_party_ads, unlinked_page_ads, largest_third_party_pages };
    };
    const events = [start('a', ad(1), { page: OTHER }), link('b', OTHER)];
    await given(events)
      .into(socialPages)
      .shows(counts, {
        third_party_ads: 1,
        unlinked_page_ads: 0,
        largest_third_party_pages: [
          { page: { page_id: OTHER, page_name: `Page ${OTHER}` }, role: null, active_ads: 1 },
        ],
      });
    for (const withdrawn of [unlink('b', OTHER), quarantine('b', OTHER)]) {
      await given([...events, withdrawn])
        .into(socialPages)
        .shows(counts, { third_party_ads: 0, unlinked_page_ads: 1, largest_third_party_pages: [] });
    }
  });

  it('shows at most the ten largest pages, and none for a brand without ads', async () => {
    const pages = Array.from({ length: 12 }, (_, place) => String(200_000_000 + place));
    const events = pages.flatMap((page, place) => [
      link('b', page),
      ...Array.from({ length: place + 1 }, (_, nth) => start('a', `8${page}${nth}`, { page })),
    ]);
    await given(events)
      .into(socialPages)
      .shows(
        async (db) => {
          const { third_party_pages, third_party_ads, largest_third_party_pages } = JSON.parse(
            (await readLeakage(db, idOf('a'))).data,
          );
          const largest = (largest_third_party_pages as { active_ads: number }[]).map(
            ({ active_ads }) => active_ads,
          );
          const none = JSON.parse((await readLeakage(db, idOf('nobody'))).data);
          return { third_party_pages, third_party_ads, largest, none: none.active_ads };
        },
        { third_party_pages: 12, third_party_ads: 78, largest: [12, 11, 10, 9, 8, 7, 6, 5, 4, 3], none: 0 },
      );
  });
});

describe('the key of a copy', () => {
  it('depends only on its words and their order', () => {
    const key = copyKeyOf('Warm socks. For cold feet!');
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    for (const same of ['warm  socks\nfor COLD feet', '🧦 Warm socks — for cold feet 🧦'])
      expect(copyKeyOf(same)).toBe(key);
    for (const other of ['Cold socks for warm feet', 'Warm socks for cold feet today'])
      expect(copyKeyOf(other)).not.toBe(key);
    expect(copyKeyOf('Теплые носки')).not.toBe(copyKeyOf('Холодные ноги'));
  });

  it.each(['{{product.name}}', 'Now: {{product.brand}} for you', ' ', '🧦🧦', '…', null])(
    'is null for %j, which has no own words',
    (body) => {
      expect(copyKeyOf(body)).toBeNull();
    },
  );
});

describe('copy reuse', () => {
  const reused = (name: string) => async (db: Parameters<typeof listReusedCopy>[0]) =>
    parsed((await listReusedCopy(db, idOf(name))).items).map(
      ({ body, brand_ads, foreign_ads, foreign_pages, largest_foreign_pages }) => ({
        body,
        ads: [brand_ads, foreign_ads, foreign_pages],
        pages: (largest_foreign_pages as { page: { page_id: string }; active_ads: number }[]).map(
          ({ page, active_ads }) => [page.page_id, active_ads],
        ),
      }),
    );

  it('lists texts of linked pages that also run elsewhere, in ads of any brand', async () => {
    const events = [
      link('a', OWN),
      start('a', ad(1), { page: OWN, body: 'Warm socks for cold feet' }),
      start('a', ad(2), { page: OTHER, body: 'WARM socks, for cold feet' }),
      start('b', ad(3), { page: CREATOR, body: 'Warm socks for cold feet!' }),
      start('b', ad(4), { page: CREATOR, body: 'Warm socks for cold feet!' }),
      start('b', ad(5), { page: CREATOR, body: 'Nobody else says so' }),
      start('a', ad(6), { page: OWN, body: 'Only here' }),
      start('a', ad(7), { page: OWN, body: '{{product.name}}' }),
      start('b', ad(8), { page: CREATOR, body: '{{product.name}}' }),
      start('a', ad(9), { page: OTHER, body: 'Nobody else says so' }),
    ];
    await given(events)
      .into(socialPages)
      .shows(reused('a'), [
        {
          body: 'WARM socks, for cold feet',
          ads: [1, 3, 2],
          pages: [
            [CREATOR, 2],
            [OTHER, 1],
          ],
        },
      ] as never);
  });

  it('changes with the copy of ads and with whether they run', async () => {
    const events = [
      link('a', OWN),
      start('a', ad(1), { page: OWN, body: 'First text' }),
      start('a', ad(2), { page: OWN }),
      start('a', ad(3), { page: OWN, body: 'Third text' }),
      start('b', ad(4), { page: OTHER, body: 'Second text' }),
      start('b', ad(5), { page: OTHER, body: 'First text' }),
      start('b', ad(6), { page: OTHER, body: 'Third text' }),
      detail('a', ad(2), { page: OWN, body: 'Second text' }),
      revise('a', ad(1), 'First text', 'Other words'),
      reword('a', ad(3), 'Third text, reworded'),
      stop('b', ad(4), { page: OTHER }),
    ];
    await given(events).into(socialPages).shows(reused('a'), []);
    await given([...events, comeBack('b', ad(4), { page: OTHER }), reword('b', ad(6), 'Third text reworded')])
      .into(socialPages)
      .shows(
        async (db) => (await reused('a')(db)).map(({ body }) => body as string).toSorted(),
        ['Second text', 'Third text reworded'],
      );
  });

  it('shows at most twelve texts, most foreign ads first', async () => {
    const foreign = (place: number, nth: number): GivenEvent =>
      start('b', `7${String(place).padStart(4, '0')}${nth}`, { page: OTHER, body: `Text number ${place}` });
    const events = Array.from({ length: 14 }, (_text, place) => [
      start('a', ad(place), { page: OWN, body: `Text number ${place}` }),
      ...Array.from({ length: place + 1 }, (_ad, nth) => foreign(place, nth)),
    ]).flat();
    await given([link('a', OWN), ...events])
      .into(socialPages)
      .shows(
        async (db) => (await reused('a')(db)).map(({ ads }) => ads[1] as unknown as number),
        [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
      );
  });

  it('excludes the linked pages for a text on hundreds of pages', async () => {
    const foreign = Array.from({ length: 320 }, (_page, nth) =>
      start('b', `7${String(nth).padStart(5, '0')}`, { page: String(300_000_000 + nth), body: 'Everywhere' }),
    );
    const own = [
      start('a', ad(1), { page: OWN, body: 'Everywhere' }),
      start('b', ad(2), { page: OWN, body: 'Everywhere' }),
      start('a', ad(3), { page: OTHER, body: 'Everywhere' }),
    ];
    await given([link('a', OWN), ...own, ...foreign])
      .into(socialPages)
      .shows(
        async (db) =>
          parsed((await listReusedCopy(db, idOf('a'))).items).map(
            ({ brand_ads, foreign_ads, foreign_pages }) => [brand_ads, foreign_ads, foreign_pages],
          ),
        [[1, 321, 321]] as never,
      );
  });
});

describe('hubs', () => {
  const shaped = (items: readonly string[]) =>
    parsed(items).map(({ page, brands, active_ads, roster }) => [
      (page as { page_id: string }).page_id,
      brands,
      active_ads,
      (roster as { brand: { name: string }; active_ads: number }[]).map(
        ({ brand: { name }, active_ads: ads }) => `${name} ${ads}`,
      ),
    ]);
  const hubs = async (db: Parameters<typeof listHubs>[0]) =>
    shaped((await listHubs(db, { limit: 10, after: null })).items);
  const BIGGEST_FIRST = [
    [CREATOR, 2, 3, ['b 2', 'a 1']],
    [OTHER, 2, 2, expect.arrayContaining(['a 1', 'd 1'])],
  ];
  const events = [
    brand('a'),
    brand('b'),
    brand('c', { is_public: false }),
    brand('d'),
    start('a', ad(1), { page: CREATOR }),
    start('b', ad(2), { page: CREATOR }),
    start('b', ad(3), { page: CREATOR }),
    start('c', ad(4), { page: CREATOR }),
    start('a', ad(5), { page: OTHER }),
    start('d', ad(6), { page: OTHER }),
    start('a', ad(7), { page: OWN }),
    start('c', ad(8), { page: OWN }),
  ];

  it('pages through pages with active ads of two or more public brands, largest roster first', async () => {
    await given(events)
      .into(socialPages)
      .shows(
        async (db) => {
          const first = await listHubs(db, { limit: 1, after: null });
          const second = await listHubs(db, { limit: 1, after: first.next });
          return [shaped([...first.items, ...second.items]), await hubs(db)];
        },
        [BIGGEST_FIRST, BIGGEST_FIRST] as never,
      );
  });

  it('change with ads and with the visibility of brands', async () => {
    const later = [stop('d', ad(6), { page: OTHER }), publish('c', true)];
    await given([...events, ...later])
      .into(socialPages)
      .shows(async (db) => (await hubs(db)).map(([page, brands]) => [page, brands]), [
        [CREATOR, 3],
        [OWN, 2],
      ] as never);
  });
});

describe('the network', () => {
  const SOCKS = { id: categoryIdOf(['Socks']), slug: 'socks', name: 'Socks' };
  const inSocks = { category_path: [SOCKS] };
  const events = [
    brand('a', inSocks),
    brand('b', inSocks),
    brand('c'),
    brand('d', inSocks),
    brand('e', { ...inSocks, is_public: false }),
    link('a', CREATOR, 'CREATOR', 0.8),
    link('b', CREATOR, 'CREATOR', 0.6),
    start('a', ad(1), { page: OTHER }),
    start('b', ad(2), { page: OTHER }),
    start('c', ad(3), { page: OTHER }),
    start('e', ad(4), { page: OTHER }),
    scanned('a', 4),
    scanned('b', 6),
  ];
  const shape = (text: string | null) => {
    if (text === null) return null;
    const { brands, links, ...counts } = JSON.parse(text.replaceAll('\u0001', ''));
    const nameOf = (id: string) => ['a', 'b', 'c', 'd', 'e'].find((name) => idOf(name) === id) ?? id;
    return {
      brands: (brands as { brand: { name: string }; linked_brands: number }[]).map(
        ({ brand: { name }, linked_brands }) => `${name} ${linked_brands}`,
      ),
      links: (links as { brand_ids: string[]; shared_pages: number; confidence: number }[]).map(
        ({ brand_ids, shared_pages, confidence }) =>
          `${brand_ids.map(nameOf).toSorted().join('-')} ${shared_pages} ${confidence}`,
      ),
      ...counts,
    };
  };

  it('shows the public brands of a brand’s or category’s network, and their links', async () => {
    await given(events)
      .into(socialPages)
      .shows(
        async (db) => ({
          neighbours: shape(await readNetworkOfBrand(db, idOf('a'))),
          alone: shape(await readNetworkOfBrand(db, idOf('d'))),
          category: shape(await readNetworkOfCategory(db, SOCKS.id)),
          nothing: await readNetworkOfCategory(db, categoryIdOf(['Nothing'])),
          as_of: await readNewestScan(db, 'social_pages'),
        }),
        {
          neighbours: {
            // The brand itself, then the nearest: it shares with b a page that no other brand is on.
            brands: ['a 2', 'b 2', 'c 2'],
            // 1 − (1 − 0.6) × (1 − 0.5 / 2), and 0.5 / 2.
            links: expect.arrayContaining(['a-b 2 0.7', 'a-c 1 0.25', 'b-c 1 0.25']),
            brands_with_link: 3,
            brands_without_link: 0,
          },
          alone: { brands: ['d 0'], links: [], brands_with_link: 0, brands_without_link: 1 },
          category: {
            brands: expect.arrayContaining(['a 1', 'b 1']),
            links: ['a-b 2 0.7'],
            brands_with_link: 2,
            brands_without_link: 1,
          },
          nothing: null,
          as_of: at(6),
        },
      );
  });
});
