import { excerptOfBody, type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import { derivedId } from '#domain/ids.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { LANDING_PAGES, SHARED_LANDING_PAGES } from '../reads/seeds.ts';
import { METADATA, samples, scaled } from '../runner/bench.ts';

export type Arriving = { readonly name: string; readonly batches: readonly (readonly RecordedEvent[])[] };

const BATCHES = Math.max(2, samples(12));
export const EVENTS_OF_BATCH = 15;
const ROWS = BATCHES * EVENTS_OF_BATCH;

type Ad = {
  readonly ad_id: string;
  readonly brand_id: string;
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly format: AdFormat;
  readonly title: string;
  readonly body: string;
  readonly link_url: string;
  readonly countries: readonly string[];
  readonly started_on: string;
};
type Brand = { readonly brand_id: string; readonly name: string };

const AD_COLUMNS = `ad_id, brand_id, social_page_id as page_id, page_name, format, title, body, link_url, countries,
  started_on::text as started_on`;

const ADS = {
  'of any brand': `n % ${scaled(977)} = 3 % ${scaled(977)}`,
  'of the biggest brand': `brand_n = 1`,
  'at shared landing pages': `landing_n > ${LANDING_PAGES - SHARED_LANDING_PAGES}`,
  'on shared pages': `social_page_id >= '500000000' and social_page_id < '500000003'`,
} as const;

const TOTALS = Object.fromEntries(
  'seen active missing total baseline news late stopped returned revised destination_changed reworded'
    .split(' ')
    .map((count, place) => [count, place]),
) as ScanTotals;

let position = 1n << 50n;
/** Positions follow all others in the tables. */
const recorded = (stream: string, event: Event): RecordedEvent => {
  position += 100n;
  const place = { stream, revision: position, position, recordedAt: new Date() };
  return { ...event, ...place, id: derivedId('bench', String(position)), metadata: METADATA };
};

const batchesOf = <Of>(rows: readonly Of[], record: (row: Of) => RecordedEvent): Arriving['batches'] =>
  Array.from({ length: Math.ceil(rows.length / EVENTS_OF_BATCH) }, (_, batch) =>
    rows.slice(batch * EVENTS_OF_BATCH, (batch + 1) * EVENTS_OF_BATCH).map(record),
  );

const adEvents = (ads: readonly Ad[], which: string, at: string): readonly Arriving[] => {
  const about = ({ ad_id, brand_id, format, countries, started_on }: Ad) => ({
    ad_id,
    brand_id,
    format,
    countries,
    started_on,
    scan_id: derivedId('bench scan', brand_id),
    observed_at: at,
  });
  const seen = ({ page_id, page_name, title, body }: Ad) => ({
    excerpt: { page_id, page_name, title, body: excerptOfBody(body) },
  });
  const events: Readonly<Record<string, (ad: Ad) => AdLibraryEvent>> = {
    'ads stop': (ad) => ({
      type: 'AdConfirmedInactive',
      data: {
        ...about(ad),
        ...seen(ad),
        basis: 'library',
        stopped_on: at.slice(0, 10),
        last_seen_at: at,
        observed_running: true,
        news: true,
      },
    }),
    'ads move': (ad) => ({
      type: 'AdDestinationChanged',
      data: { ...about(ad), ...seen(ad), from_url: ad.link_url, to_url: `${ad.link_url}/moved` },
    }),
    'ads are reworded': (ad) => ({
      type: 'AdRevised',
      data: { ...about(ad), ...seen(ad), changes: { body: { from: ad.body, to: `${ad.body} More.` } } },
    }),
    'ads are missed': ({ ad_id, brand_id }) => ({
      type: 'AdsMissed',
      data: { brand_id, scan_id: derivedId('bench scan', brand_id), observed_at: at, ad_ids: [ad_id] },
    }),
  };
  return Object.entries(events).map(([what, eventOf]) => ({
    name: `${what}, ${which}`,
    batches: batchesOf(ads, (ad) => recorded(adLibraryStream(ad.brand_id), eventOf(ad))),
  }));
};

const brandEvents = (brands: readonly Brand[], at: string): readonly Arriving[] => [
  {
    name: 'scans end',
    batches: batchesOf(brands, ({ brand_id }) =>
      recorded(adLibraryStream(brand_id), {
        type: 'ScanRecorded',
        data: {
          brand_id,
          scan_id: derivedId('bench scan', brand_id),
          observed_at: at,
          scanned_for: brand_id,
          collector: 'bench',
          complete: true,
          countries: ['US'],
          pages: [],
          reliable: true,
          late_arrival: false,
          totals: TOTALS,
        },
      }),
    ),
  },
  {
    name: 'brands are tracked',
    batches: batchesOf(brands, ({ brand_id }) => {
      const workspace_id = `ws_${derivedId('bench workspace', brand_id)}`;
      const data = { workspace_id, brand_id, cadence: 'daily', tracked_at: at } as const;
      return recorded(trackingStream(workspace_id), { type: 'BrandTracked', data });
    }),
  },
  ...(
    [
      ['brands are renamed', (name: string) => ({ name: `${name} & Co` })],
      ['brands are hidden', () => ({ is_public: false })],
    ] as const
  ).map(([name, changesOf]) => ({
    name,
    batches: batchesOf(brands, (brand) => {
      const { brand_id } = brand;
      const data = { brand_id, observed_at: at, changes: changesOf(brand.name) };
      return recorded(brandStream(brand_id), { type: 'BrandProfileChanged', data });
    }),
  })),
];

export const arrivingEvents = async (pool: Database): Promise<readonly Arriving[]> => {
  const at = new Date().toISOString();
  const ads: Arriving[] = [];
  for (const [which, where] of Object.entries(ADS)) {
    const { rows } = await pool.query<Ad>(
      `select ${AD_COLUMNS} from ads.ad where link_url is not null and ad_id in (
         select ad_id from bench.ad where status = 'active' and ${where} order by bench.u(n, 99) limit $1)`,
      [ROWS],
    );
    ads.push(...adEvents(rows, which, at));
  }
  const { rows: brands } = await pool.query<Brand>(
    `select brand_id, name from bench.brand where n % ${scaled(97)} = 5 % ${scaled(97)} order by bench.u(n, 99) limit $1`,
    [ROWS],
  );
  return [...ads, ...brandEvents(brands, at)];
};
