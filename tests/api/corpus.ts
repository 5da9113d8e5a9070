import {
  adLibraryStream,
  type AdContent,
  type AdLibraryFact,
  type AdStarted,
} from '#contracts/events/corpus/ad-library.ts';
import { type BrandRegistered, brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf, brandSlugOf, categoryIdOf, derivedId } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** A small corpus as facts: what the API's tests read. Times count back from `now`. */

const HOUR_MS = 3_600_000;
const METADATA = {
  $correlationId: 'corpus',
  $causationId: 'corpus',
  request_id: 'corpus',
  actor: { kind: 'service', id: 'tests' },
  schema_version: 1,
} as const;

export const APPAREL_ID = categoryIdOf(['Apparel']);
export const APPAREL = { id: APPAREL_ID, slug: 'apparel', name: 'Apparel' };
const SHOES = { id: categoryIdOf(['Apparel', 'Shoes']), slug: 'shoes', name: 'Shoes' };

const EXCERPT = { page_id: '104857600', page_name: 'A page', title: 'A title', body: 'Words of an ad' };

export type CorpusBrand = { readonly id: string; readonly slug: string; readonly adIds: readonly string[] };

const content = (body: string, link_url: string): AdContent => ({
  body,
  title: 'A title',
  link_description: null,
  caption: null,
  cta_type: 'SHOP_NOW',
  cta_text: 'Shop now',
  link_url,
  format: 'video',
  platforms: ['facebook'],
  languages: ['en'],
  media: [],
  cards: [],
  versions: [],
});

export const registered = (
  domain: string,
  observed_at: string,
  details: Partial<BrandRegistered['data']> = {},
): BrandRegistered => ({
  type: 'BrandRegistered',
  data: {
    brand_id: brandIdOf(domain),
    domain,
    slug: brandSlugOf(domain),
    observed_at,
    name: domain.split('.', 1)[0] ?? domain,
    description: null,
    url: `https://${domain}/`,
    logo_url: null,
    country: 'US',
    category_path: [APPAREL, SHOES],
    is_public: true,
    indexable: true,
    ...details,
  },
});

const registerBrand = async (eventStore: EventStore, fact: BrandRegistered): Promise<void> => {
  const { brand_id } = fact.data;
  await eventStore.append(brandStream(brand_id), -1n, [fact], METADATA, `register ${brand_id}`);
};

/** Two scans: a baseline ten days ago, and news six hours ago. The first ad starts over when its place is 0. */
const scansOf = (
  brandId: string,
  place: number,
  now: number,
): { facts: AdLibraryFact[]; adIds: string[] } => {
  const ago = (hours: number): string => new Date(now - hours * HOUR_MS).toISOString();
  const [then, lately] = [ago(240), ago(6)];
  const adIds = [0, 1, 2, 3].map((ad) => `90000${place}000${ad}`);
  const counted = (ad: number, started_on: string) => ({
    ad_id: adIds[ad] ?? '',
    format: 'video' as const,
    countries: ['US'],
    started_on,
  });
  const started = (ad: number, observed_at: string, baseline: boolean): AdStarted => ({
    type: 'AdStarted',
    data: {
      brand_id: brandId,
      scan_id: derivedId('scan', `${brandId} ${observed_at}`),
      observed_at,
      ...counted(ad, (baseline ? ago(24 * 120) : lately).slice(0, 10)),
      page_id: '104857600',
      page_name: 'A page',
      novelty: baseline ? 'baseline' : 'news',
      missing_since: null,
      collector: 'tests',
      content: content(`Words of ad ${ad}: winter boots`, `https://shop.example.com/${ad}`),
    },
  });
  const sighting = {
    brand_id: brandId,
    scan_id: derivedId('scan', `${brandId} ${lately}`),
    observed_at: lately,
  };
  const recorded = (observed_at: string, active: number, total: number): AdLibraryFact => ({
    type: 'ScanRecorded',
    data: {
      brand_id: brandId,
      scan_id: derivedId('scan', `${brandId} ${observed_at}`),
      observed_at,
      scanned_for: brandId,
      collector: 'tests',
      complete: true,
      countries: ['US'],
      pages: [{ page_id: '104857600', page_name: 'A page', baseline: observed_at === then }],
      reliable: true,
      late_arrival: false,
      totals: {
        seen: active,
        active,
        missing: 0,
        total,
        baseline: observed_at === then ? active : 0,
        news: observed_at === then ? 0 : 2,
        late: 0,
        stopped: observed_at === then ? 0 : 1,
        returned: 0,
        revised: 0,
        destination_changed: observed_at === then ? 0 : 1,
        reworded: 0,
      },
    },
  });
  const facts: AdLibraryFact[] = [
    started(0, then, true),
    started(1, then, true),
    recorded(then, 2, 2),
    started(2, lately, false),
    started(3, lately, false),
    {
      type: 'AdDestinationChanged',
      data: {
        ...sighting,
        ...counted(0, ago(24 * 120).slice(0, 10)),
        excerpt: EXCERPT,
        from_url: 'https://shop.example.com/0',
        to_url: 'https://shop.example.com/sale',
      },
    },
    {
      type: 'AdConfirmedInactive',
      data: {
        ...sighting,
        ...counted(1, ago(24 * 120).slice(0, 10)),
        excerpt: EXCERPT,
        basis: 'library',
        stopped_on: lately.slice(0, 10),
        last_seen_at: then,
        news: true,
      },
    },
    recorded(lately, 3, 4),
  ];
  return { facts, adIds };
};

/** Brands `alpha.com`, `beta.com`, …, each with four ads; answers them with the position of the last fact. */
export const seedCorpus = async (
  eventStore: EventStore,
  names: readonly string[],
  now: number,
): Promise<{ readonly brands: readonly CorpusBrand[]; readonly position: bigint }> => {
  const brands: CorpusBrand[] = [];
  let position = 0n;
  for (const [place, name] of names.entries()) {
    const registration = registered(`${name}.com`, new Date(now - 300 * HOUR_MS).toISOString());
    const { brand_id: id, slug } = registration.data;
    await registerBrand(eventStore, registration);
    const { facts, adIds } = scansOf(id, place, now);
    ({ position } = await eventStore.append(adLibraryStream(id), -1n, facts, METADATA, `scans ${id}`));
    brands.push({ id, slug, adIds });
  }
  return { brands, position };
};

export const seedBrand = registerBrand;
