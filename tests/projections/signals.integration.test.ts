import { expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { isSaleCopy, SignalKind } from '#contracts/values/signals.ts';
import { signals } from '#projections/signals/project.ts';
import { listBrandSignals } from '#projections/signals/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import {
  dateOf,
  dayOf,
  cardsTo,
  EXCERPT,
  type Launch,
  type Scan,
  type Story,
  story,
} from './fixtures/signal-stories.ts';

/** One history is just below the threshold of the signal, and one exactly at it. */
type Told = {
  readonly name: string;
  readonly tell: (brand: Story) => Story;
  readonly shows: readonly string[];
};

const LAST_DAY = 200;
const first = (count: number, more: Launch = {}): Scan => ({
  baseline: true,
  launches: [{ count, novelty: 'baseline', since: -100, ...more }],
});
const starts = (count: number, more: Launch = {}): Scan => ({ launches: [{ count, ...more }] });
const upTo = (day: number, brand: Story): Story => {
  for (let one = 1; one <= day; one += 1) brand.scan(one, starts(2));
  return brand;
};
const started = (from: number, to: number, count: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `${from + n} ads_started ${count}`);

const MOVES: readonly Told[] = [
  {
    name: 'ramp: half as many again and ten more',
    tell: (brand) => brand.scan(0, first(20)).scan(7, starts(10)),
    shows: ['7 ads_started 10', '7 ramp 30 20>30'],
  },
  {
    name: 'no ramp: one less than half',
    tell: (brand) => brand.scan(0, first(20)).scan(6, starts(4)).scan(7, starts(5)),
    shows: ['6 ads_started 4', '7 ads_started 5'],
  },
  {
    name: 'no ramp: one less than ten',
    tell: (brand) => brand.scan(0, first(4)).scan(7, starts(9)),
    shows: ['7 ads_started 9'],
  },
  {
    name: 'no ramp across a day that is not reliable, nor on one',
    tell: (brand) =>
      brand
        .scan(0, { ...first(2), reliable: false })
        .scan(1, {})
        .scan(7, starts(10))
        .scan(8, { reliable: false, ...starts(10) }),
    shows: ['7 ads_started 10', '8 ads_started 10'],
  },
  {
    name: 'a ramp that lasts is told once',
    tell: (brand) => brand.scan(0, first(20)).scan(1).scan(2).scan(7, starts(10)).scan(8).scan(9),
    shows: ['7 ads_started 10', '7 ramp 30 20>30'],
  },
  {
    name: 'no ramp of ads that came into view',
    tell: (brand) =>
      brand.scan(0, first(20)).scan(7, { launches: [{ count: 11, novelty: 'late' }, { count: 9 }] }),
    shows: ['7 ads_started 9'],
  },
  {
    name: 'ads that had ended when first seen take nothing off a ramp',
    tell: (brand) =>
      brand.scan(0, first(20)).scan(7, {
        launches: [{ count: 5, novelty: 'late', ended: true }, { count: 10 }],
      }),
    shows: ['7 ads_started 10', '7 ramp 30 20>30'],
  },
  {
    name: 'drop: two in five and ten fewer',
    tell: (brand) => brand.scan(0, first(25)).scan(7, { stops: 10 }),
    shows: ['7 ads_stopped 10', '7 drop 15 25>15'],
  },
  {
    name: 'no drop: one less than two in five',
    tell: (brand) => brand.scan(0, first(26)).scan(7, { stops: 10 }),
    shows: ['7 ads_stopped 10'],
  },
  {
    name: 'no drop: one less than ten',
    tell: (brand) => brand.scan(0, first(10)).scan(7, { stops: 9 }),
    shows: ['7 ads_stopped 9'],
  },
  {
    name: 'no drop across a day that is not reliable',
    tell: (brand) => brand.scan(0, { ...first(12), reliable: false }).scan(7, { stops: 10 }),
    shows: ['7 ads_stopped 10'],
  },
];

const BURSTS: readonly Told[] = [
  {
    name: 'launch burst: ten, when two are usual',
    tell: (brand) => upTo(3, brand.scan(0, first(1))).scan(4, starts(10)),
    shows: [...started(1, 3, 2), '4 ads_started 10', '4 launch_burst 10 ~2'],
  },
  {
    name: 'no burst: nine',
    tell: (brand) => upTo(3, brand.scan(0, first(1))).scan(4, starts(9)),
    shows: [...started(1, 3, 2), '4 ads_started 9'],
  },
  {
    name: 'launch burst: three times the mean',
    tell: (brand) => brand.scan(0, first(1)).scan(1, starts(4)).scan(2, starts(4)).scan(3, starts(12)),
    shows: ['1 ads_started 4', '2 ads_started 4', '3 ads_started 12', '3 launch_burst 12 ~4'],
  },
  {
    name: 'no burst: one less than three times the mean',
    tell: (brand) => brand.scan(0, first(1)).scan(1, starts(4)).scan(2, starts(4)).scan(3, starts(11)),
    shows: ['1 ads_started 4', '2 ads_started 4', '3 ads_started 11'],
  },
  {
    name: 'no burst after days on which nobody looked, nor after one that is not reliable',
    tell: (brand) =>
      upTo(2, brand.scan(0, first(1)))
        .scan(4, starts(10))
        .scan(5, { reliable: false })
        .scan(6, starts(15)),
    shows: [...started(1, 2, 2), '4 ads_started 10', '6 ads_started 15'],
  },
];

const SALES: readonly Told[] = [
  {
    name: 'sale: three ads with sale copy',
    tell: (brand) => brand.scan(0, first(9)).scan(1, starts(3, { body: 'Our SALE is on' })),
    shows: ['1 ads_started 3', '1 sale 3 3 ads'],
  },
  {
    name: 'no sale: two, or three on a day that is not reliable',
    tell: (brand) =>
      brand
        .scan(0, first(9))
        .scan(1, starts(2, { body: '20% off' }))
        .scan(2, { ...starts(3, { body: '20% off' }), reliable: false }),
    shows: ['1 ads_started 2', '2 ads_started 3'],
  },
  {
    name: 'sale: a tenth of the catalogue cheaper, with nothing of the ads known',
    tell: (brand) => brand.shop(1, 20, 2),
    shows: ['1 sale 0 2/20'],
  },
  {
    name: 'no sale: less than a tenth; the first look; a part; an old one; an empty one',
    tell: (brand) =>
      brand
        .shop(1, 21, 2)
        .shop(2, 20, 20, { baseline: true })
        .shop(3, 20, 20, { complete: false })
        .shop(4, 20, 20, { late_arrival: true })
        .shop(5, 0, 0),
    shows: [],
  },
];

const PLACE = 'https://www.shop.example/spring?utm_source=x';
const PAGES: readonly Told[] = [
  {
    name: 'new landing page: once, whatever the tracking parameters',
    tell: (brand) =>
      brand
        .scan(0, first(1, { link: 'https://shop.example/' }))
        .scan(1, starts(2, { link: PLACE }))
        .scan(2, starts(1, { link: 'https://shop.example/spring' })),
    shows: ['1 ads_started 2', '1 new_landing_page 1 1 ads', '2 ads_started 1'],
  },
  {
    name: 'no new landing page: of a baseline, or where a late find leads there too',
    tell: (brand) =>
      brand.scan(0, first(1, { link: PLACE })).scan(1, {
        launches: [
          { link: 'https://shop.example/a' },
          { link: 'https://shop.example/a', novelty: 'late', since: -50 },
        ],
      }),
    shows: ['1 ads_started 1'],
  },
  {
    name: 'new landing page: by a changed link, which is a refresh of an ad of sixty days',
    tell: (brand) => {
      brand.scan(0, first(2, { link: PLACE, since: -60 + 1 }));
      return brand.scan(1, {
        more: (sighting) => [
          {
            type: 'AdDestinationChanged',
            data: { ...sighting, ...brand.ad(0), excerpt: EXCERPT, from_url: PLACE, to_url: `${PLACE}&b=1` },
          },
        ],
      });
    },
    shows: ['1 destinations_changed 1', '1 long_runner_refreshed 1 1 ads', '1 new_landing_page 1 1 ads'],
  },
  {
    name: 'new landing page: by a card of a new ad, and by one that leads elsewhere',
    tell: (brand) => {
      brand.scan(0, first(1, { link: PLACE, cards: [PLACE, 'https://shop.example/a'] }));
      brand.scan(1, starts(1, { link: PLACE, cards: ['https://shop.example/a', 'https://shop.example/b'] }));
      return brand.scan(2, {
        more: (sighting) => [
          recarded(sighting, brand.ad(0), ['https://shop.example/a'], ['https://shop.example/c']),
          recarded(sighting, brand.ad(1), ['https://shop.example/a'], [`${PLACE}?utm_source=x`]),
        ],
      });
    },
    shows: [
      '1 ads_started 1',
      '1 new_landing_page 1 1 ads',
      '2 long_runner_refreshed 1 1 ads',
      '2 new_landing_page 1 1 ads',
    ],
  },
  {
    name: 'refreshed: copy changed, not before sixty days, and not what became known',
    tell: (brand) => {
      brand
        .scan(0, { ...first(2, { since: -60 + 1 }) })
        .scan(0, { hour: 7, ...first(1, { since: -60 + 2 }) });
      return brand.scan(1, {
        more: (sighting) => [
          revised(sighting, brand.ad(0), 'before'),
          revised(sighting, brand.ad(1), null),
          revised(sighting, brand.ad(2), 'before'),
        ],
      });
    },
    shows: ['1 long_runner_refreshed 1 1 ads'],
  },
  {
    name: 'new linked page: after the first day, and once',
    tell: (brand) =>
      brand
        .link(0, '100000011', 'OFFICIAL')
        .link(0, '100000012', 'CREATOR', 9)
        .link(1, '100000013', 'CREATOR')
        .link(2, '100000013', null)
        .link(3, '100000013', 'PARTNER'),
    shows: ['1 new_linked_page 1 CREATOR 100000013'],
  },
  {
    name: 'new linked page: once, though its link is observed again, and on the day of an older observation',
    tell: (brand) =>
      brand
        .link(0, '100000014', 'OFFICIAL')
        .link(1, '100000015', 'CREATOR')
        .linkAgain(2, '100000015', 'CREATOR')
        .link(3, '100000015', 'PARTNER')
        .link(5, '100000016', 'CREATOR')
        .linkAgain(4, '100000016', 'CREATOR'),
    shows: ['1 new_linked_page 1 CREATOR 100000015', '4 new_linked_page 1 CREATOR 100000016'],
  },
];

const PAIRS: readonly Told[] = [
  {
    name: 'new whitelisting pair: on pages of others, though nobody had looked at them before',
    tell: (brand) =>
      brand
        .link(0, '100000021', 'OFFICIAL')
        .link(0, '100000022', 'CREATOR')
        .scan(0, first(1, { page: '100000021' }))
        .scan(2, {
          launches: [
            { page: '100000022' },
            { page: '100000023', novelty: 'baseline', since: 0 },
            { page: '100000021' },
          ],
        })
        .scan(3, starts(1, { page: '100000023' })),
    shows: [
      '2 ads_started 2',
      '2 new_whitelisting_pair 2 CREATOR 100000022, unlinked 100000023',
      '3 ads_started 1',
    ],
  },
  {
    name: 'no pair: on a regional page; running before the last scan; found late; nothing linked',
    tell: (brand) =>
      brand
        .link(0, '100000031', 'REGIONAL')
        .scan(1, first(1))
        .scan(2, {
          launches: [
            { page: '100000031' },
            { page: '100000032', novelty: 'baseline', since: -1 },
            { page: '100000033', novelty: 'late' },
          ],
        }),
    shows: ['2 ads_started 1'],
  },
  {
    name: 'no pair: on an own page whose link is observed again',
    tell: (brand) =>
      brand
        .link(0, '100000051', 'OFFICIAL')
        .linkAgain(1, '100000051', 'OFFICIAL')
        .scan(1, first(1))
        .scan(2, { launches: [{ page: '100000051' }] }),
    shows: ['2 ads_started 1'],
  },
  {
    name: 'no pair of a brand of which no page is known',
    tell: (brand) => brand.scan(1, first(1)).scan(2, starts(1, { page: '100000041' })),
    shows: ['2 ads_started 1'],
  },
];

const videos = (before: number): Scan => ({
  baseline: true,
  launches: [
    { count: before, novelty: 'baseline', format: 'video', since: -100 },
    { count: 20 - before, novelty: 'baseline', since: -100 },
  ],
});
const MIXES: readonly Told[] = [
  {
    name: 'format-mix shift: twenty points of twenty-five ads',
    tell: (brand) => brand.scan(0, videos(0)).scan(28, starts(5, { format: 'video' })),
    shows: ['28 ads_started 5', '28 format_mix_shift 25 image 1>0.8'],
  },
  {
    name: 'no shift: four of twenty-four',
    tell: (brand) => brand.scan(0, videos(0)).scan(28, starts(4, { format: 'video' })),
    shows: ['28 ads_started 4'],
  },
  {
    name: 'no shift: fewer than twenty ads on either day',
    tell: (brand) => brand.scan(0, first(19)).scan(28, starts(19, { format: 'video' })),
    shows: ['28 ads_started 19'],
  },
  {
    name: 'no shift across a day that is not reliable',
    tell: (brand) =>
      brand.scan(0, { ...videos(0), reliable: false }).scan(28, starts(9, { format: 'video' })),
    shows: ['28 ads_started 9'],
  },
  {
    name: 'no shift of formats that another source words differently',
    tell: (brand) => {
      brand.scan(0, videos(0));
      const ads = Array.from({ length: 10 }, (_, place) => ({
        ...brand.ad(place),
        was_format: 'image' as const,
      }));
      return brand.scan(28, {
        more: (sighting) => [
          {
            type: 'AdsReworded',
            data: {
              ...sighting,
              collector: 'another',
              aspects: ['format'],
              differences: [],
              ads: ads.map((ad) => ({ ...ad, format: 'dco' as const, wording: { format: 'dco' as const } })),
            },
          },
        ],
      });
    },
    shows: [],
  },
];

const ORDERS: readonly Told[] = [
  {
    name: 'a scan that arrives late moves no day, and its ads are no news',
    tell: (brand) =>
      brand
        .scan(0, first(20))
        .scan(8, {})
        .scan(1, { late: true, launches: [{ count: 15, novelty: 'late' }], reliable: false })
        .scan(9, {}),
    shows: [],
  },
  {
    name: 'several scans of a day are one signal of each kind',
    tell: (brand) =>
      brand
        .scan(0, first(20))
        .scan(7, starts(6))
        .scan(7, { hour: 9, ...starts(4) }),
    shows: ['7 ads_started 10', '7 ramp 30 20>30'],
  },
];

const revised = (
  sighting: Parameters<NonNullable<Scan['more']>>[0],
  ad: ReturnType<Story['ad']>,
  from: string | null,
) =>
  ({
    type: 'AdRevised',
    data: { ...sighting, ...ad, excerpt: EXCERPT, changes: { body: { from, to: 'after' } } },
  }) as const;

const recarded = (
  sighting: Parameters<NonNullable<Scan['more']>>[0],
  ad: ReturnType<Story['ad']>,
  from: readonly string[],
  to: readonly string[],
) =>
  ({
    type: 'AdRevised',
    data: {
      ...sighting,
      ...ad,
      excerpt: EXCERPT,
      changes: { cards: { from: cardsTo(from), to: cardsTo(to) } },
    },
  }) as const;

type Shown = Awaited<ReturnType<typeof listBrandSignals>>[number];

const lineOf = ({ date, kind, figures, about }: Shown): string => {
  const { items, before, after, active_before = 0, usual, cheaper, products, format } = figures;
  const isOfPages = kind === 'new_linked_page' || kind === 'new_whitelisting_pair';
  return [
    dayOf(date),
    kind,
    items,
    ...(format
      ? [format, `${(before ?? 0) / active_before}>${(after ?? 0) / items}`]
      : before === undefined
        ? []
        : [`${before}>${after}`]),
    ...(usual === undefined ? [] : [`~${usual}`]),
    ...(cheaper ? [`${cheaper}/${products}`] : []),
    ...(isOfPages
      ? [about.map(({ page_id, role }) => `${role ?? 'unlinked'} ${page_id}`).join(', ')]
      : about.length > 0
        ? [`${about.length} ads`]
        : []),
  ].join(' ');
};

const TOLD = [MOVES, BURSTS, SALES, PAGES, PAIRS, MIXES, ORDERS].flat();

test('reports each kind from its threshold on, and never across unreliable days', async () => {
  const stories = TOLD.map(({ name, tell, shows }, number) => {
    const brand = tell(story(`brand-${number}.example`, number));
    return { name, brand, shows };
  });
  const read = async (db: ReadDatabase): Promise<Record<string, readonly string[]>> => {
    const days = { from: dateOf(-1), to: dateOf(LAST_DAY) };
    const shown = stories.map(async ({ name, brand }) => {
      const found = await listBrandSignals(db, brand.brand_id, days, SignalKind.options);
      return [name, found.map(lineOf).toSorted()] as const;
    });
    return Object.fromEntries(await Promise.all(shown));
  };
  const events: GivenEvent[] = stories.flatMap(({ brand }) => brand.events);
  const expected = Object.fromEntries(stories.map(({ name, shows }) => [name, shows.toSorted()]));
  await given(events).into(signals).shows(read, expected);
});

test('recognises sale copy', () => {
  const yes = [
    'SALE!',
    'Our winter sale',
    '20% off',
    '30 % Rabatt',
    'Black Friday is here',
    '$10 off',
    'Soldes',
  ];
  const no = ['Now for sale', 'wholesale', 'Salesforce', 'turn it off', 'Save time', '100% cotton', ''];
  expect(yes.filter((text) => !isSaleCopy([null, text]))).toEqual([]);
  expect(no.filter((text) => isSaleCopy([text]))).toEqual([]);
});
