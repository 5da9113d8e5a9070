import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import type { Event } from '#contracts/events/event.ts';
import type { SiteScan } from '#contracts/observations/site-scan.ts';
import { siteStream } from '#contracts/events/corpus/site.ts';
import { type StorefrontEvent, storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { trafficStream } from '#contracts/events/corpus/traffic.ts';
import { type BrandEvent, type BrandRegistered, brandStream } from '#contracts/events/corpus/brand.ts';
import type { ObservedProduct, StorefrontScanEnd } from '#contracts/observations/storefront-scan.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { type BrandState, recordBrandProfile } from '#domain/corpus/brand.ts';
import { brandSlugsOf } from '#domain/corpus/brand-slug.ts';
import { recordSiteScan } from '#domain/corpus/site/decider.ts';
import { site, type SiteState } from '#domain/corpus/site/state.ts';
import {
  closeStorefrontScan,
  recordProductAbsences,
  recordProductSightings,
  storefrontScanOf,
} from '#domain/corpus/storefront/decider.ts';
import { storefront, type StorefrontState } from '#domain/corpus/storefront/state.ts';
import type { GivenEvent } from './projections.ts';

type Tool = SiteScan['tools'][number];
type SplitTest = SiteScan['split_tests'][number];

export const siteTool = (slug: string, category = 'Analytics'): Tool => ({
  slug,
  name: `The ${slug}`,
  category,
  website_url: `https://${slug}.example/`,
});

export const siteSplitTest = (tool: string, test_id: string, fields: Partial<SplitTest> = {}): SplitTest => ({
  tool,
  test_id,
  name: `Test ${test_id}`,
  type: 'content',
  state: 'running',
  state_basis: 'configuration',
  arms: null,
  pages: null,
  ...fields,
});

export const siteScan = (domain: string, at: string, fields: Partial<SiteScan> = {}): SiteScan => ({
  type: 'site.scan',
  domain,
  observed_at: new Date(at).toISOString(),
  collector: 'test',
  complete: true,
  tools: [],
  split_test_tools: [],
  split_tests: [],
  ...fields,
});

/** Returns the events of site scans, recorded in the order of the arguments. */
export const siteEvents = (...scans: readonly SiteScan[]): readonly GivenEvent[] => {
  const states = new Map<string, SiteState>();
  return scans.flatMap((scan) => {
    const state = states.get(scan.domain) ?? site.initial;
    const events = recordSiteScan(scan)(state);
    states.set(scan.domain, events.reduce(site.evolve, state));
    return events.map((event) => ({ stream: siteStream(scan.domain), event }));
  });
};

export const shopProduct = (
  id: number,
  price: string,
  fields: Partial<ObservedProduct> = {},
): ObservedProduct => ({
  id: String(id),
  handle: `boot-${id}`,
  title: `Boot ${id}`,
  product_type: 'Boots',
  vendor: null,
  published_at: null,
  image_url: null,
  variants: [
    { id: `${id}0`, title: 'One', sku: null, price, compare_at_price: null, available: true },
    { id: `${id}1`, title: 'Two', sku: null, price, compare_at_price: null, available: false },
  ],
  ...fields,
});

export const shopScan = (
  domain: string,
  at: string,
  fields: Partial<StorefrontScanEnd> = {},
): StorefrontScanEnd => ({
  type: 'storefront.scan_end',
  scan_id: derivedId('test scan', `${domain} ${at} ${JSON.stringify(fields)}`),
  domain,
  scanned_at: new Date(at).toISOString(),
  pages: 1,
  complete: true,
  currency: 'USD',
  collector: 'test',
  ...fields,
});

/** Only a name, unless more is given. */
/** The slug of a brand that is the first to want it. */
export const slugOfBrand = (domain: string): string => brandSlugsOf(domain)[0] ?? '';

export const recordProfile = (profile: BrandProfile): ((state: BrandState) => BrandEvent[]) =>
  recordBrandProfile(profile, slugOfBrand(profile.domain));

export const brandProfile = (fields: Partial<BrandProfile> = {}): BrandProfile => ({
  type: 'brand.profile',
  domain: 'shop.example',
  observed_at: '2026-05-02T10:00:00.000Z',
  name: 'Shop',
  description: null,
  url: null,
  logo_url: null,
  country: null,
  category_path: null,
  is_public: null,
  indexable: null,
  ...fields,
});

/** Without figures, unless they are given. */
export const trafficEstimate = (fields: Partial<TrafficEstimate> = {}): TrafficEstimate => ({
  type: 'traffic.estimate',
  domain: 'shop.example',
  observed_at: '2026-06-02T00:00:00.000Z',
  period: '2026-05',
  provider: 'estimates',
  monthly_visits: null,
  global_rank: null,
  category_rank: null,
  provider_category: null,
  countries: null,
  demographics: null,
  similar_sites: null,
  ...fields,
});

/** Decides a whole scan at once, on a state with all products; ingest decides it page by page. */
export const recordStorefrontScan =
  (end: StorefrontScanEnd, products: readonly ObservedProduct[]) =>
  (state: StorefrontState): StorefrontEvent[] => {
    if (state.scans.has(end.scan_id)) return [];
    const scan = storefrontScanOf(end, products.length);
    // A scan may show a product twice; the first one counts.
    const shown = new Map(products.toReversed().map((product) => [product.id, product]));
    const absent = [...state.products.keys()].filter((id) => !shown.has(id));
    const events = [
      ...recordProductSightings(scan, [...shown.values()].toReversed())(state),
      ...recordProductAbsences(scan, absent)(state),
    ];
    return [...events, ...closeStorefrontScan(scan, shown.size)(events.reduce(storefront.evolve, state))];
  };

export const shopEvents = (
  ...scans: readonly { readonly scan: StorefrontScanEnd; readonly products: readonly ObservedProduct[] }[]
): readonly GivenEvent[] => {
  let state: StorefrontState = storefront.initial;
  return scans.flatMap(({ scan, products }) => {
    const events = recordStorefrontScan(scan, products)(state);
    state = events.reduce(storefront.evolve, state);
    return events.map((event) => ({ stream: storefrontStream(scan.domain), event }));
  });
};

export const brandEvent = (event: BrandRegistered): GivenEvent => ({
  stream: brandStream(event.data.brand_id),
  event,
});

export const trafficEvent = (domain: string, date: string, figures: object): GivenEvent => ({
  stream: trafficStream(domain),
  event: {
    type: 'TrafficEstimated',
    data: {
      domain,
      brand_id: brandIdOf(domain),
      date,
      provider: 'test',
      observed_at: `${date}T00:00:00.000Z`,
      figures,
    },
  } satisfies Event,
});
