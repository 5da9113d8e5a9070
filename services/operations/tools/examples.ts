import { brandSummary } from '../endpoint/examples.ts';

/** Examples of tools, split tests and storefronts in the API documentation. */

const BASE_URL = 'https://ads.example.com';
export const TOOL_ID = '3f6d8b1a-9c2e-5f47-8a05-6b1d7e4c9f20';

export const techStackItem = {
  slug: 'arm-and-leg',
  name: 'Arm & Leg',
  category: 'A/B testing',
  website_url: 'https://arm-and-leg.example/',
  url: `${BASE_URL}/v1/tools/arm-and-leg`,
};

export const toolReference = { id: TOOL_ID, ...techStackItem };
export const toolSummary = { ...toolReference, brands: 412 };

export const toolExample = {
  ...toolSummary,
  adoption_by_category: [
    { category: brandSummary.category, brands: 96, scanned_brands: 1_280, share: 0.075 },
  ],
  common_combinations: [
    {
      tool: {
        id: 'b7e2c4d6-1f3a-5b8c-9d0e-2a4c6e8f0b13',
        slug: 'tidy-tags',
        name: 'Tidy Tags',
        category: 'Tag managers',
        website_url: null,
        url: `${BASE_URL}/v1/tools/tidy-tags`,
      },
      brands: 388,
      share: 0.9417,
    },
  ],
  traffic_split: [
    { visits_from: 0, visits_to: 10_000, brands: 40 },
    { visits_from: 10_000, visits_to: 100_000, brands: 171 },
    { visits_from: 100_000, visits_to: 1_000_000, brands: 126 },
    { visits_from: 1_000_000, visits_to: 10_000_000, brands: 31 },
    { visits_from: 10_000_000, visits_to: null, brands: 4 },
    { visits_from: null, visits_to: null, brands: 40 },
  ],
};

export const toolBrandExample = {
  rank: 1,
  brand: brandSummary,
  monthly_visits: 1_840_000,
  estimated_for: '2026-10-01',
  top_country: 'US',
  detected_at: '2026-09-14T05:10:00.000Z',
  missing_since: null,
};

export const censusExample = {
  tool: toolReference,
  is_read: true,
  brands_installed: 412,
  brands_read: 377,
  brands_running: 128,
};

export const splitTestsExample = {
  status: 'collected',
  scanned_at: '2026-11-19T05:10:00.000Z',
  tools: [{ ...techStackItem, read: true, read_at: '2026-11-19T05:10:00.000Z', tests: 1 }],
  tests: [
    {
      tool: techStackItem,
      id: '8c1d3e5f-7a9b-5c0d-8e2f-4a6b8c0d2e14',
      name: 'Cove boot hero',
      type: 'content',
      state: 'running',
      state_basis: 'configuration',
      arms: [
        { name: 'Control', allocation: 0.5 },
        { name: 'Film above the fold', allocation: 0.5 },
      ],
      pages: [{ url: 'https://harbor-and-pine.com/products/cove-boot', match: 'exact', active_ads: 14 }],
      first_seen_at: '2026-11-05T05:10:00.000Z',
      changed_at: null,
      missing_since: null,
    },
  ],
  category_profile: {
    category: brandSummary.category,
    brands_read: 61,
    types: [{ type: 'content', brands: 38, tests: 90, running_tests: 41 }],
  },
};

export const storeExample = {
  status: 'collected',
  latest_scan: {
    scanned_at: '2026-11-20T04:20:00.000Z',
    complete: true,
    pages: 1,
    products_seen: 1,
    currency: 'USD',
    collector: 'storefront/1',
  },
  last_complete_scan_at: '2026-11-20T04:20:00.000Z',
  currency: 'USD',
  products_total: 1,
  missing_products: 0,
  products: [
    {
      product_id: '7301948201123',
      handle: 'cove-boot',
      title: 'Cove boot',
      url: 'https://harbor-and-pine.com/products/cove-boot',
      product_type: 'Boots',
      vendor: 'Harbor & Pine',
      image_url: 'https://harbor-and-pine.com/cdn/cove-boot.jpg',
      published_at: '2026-08-30T09:00:00.000Z',
      status: 'listed',
      missing_since: null,
      first_seen_at: '2026-09-01T04:20:00.000Z',
      changed_at: '2026-11-20T04:20:00.000Z',
      available: true,
      variants: [
        {
          variant_id: '42011938203747',
          title: 'Sand / 40',
          sku: 'CB-40-S',
          price: '119.00',
          compare_at_price: '149.00',
          available: true,
        },
      ],
    },
  ],
  next_product_id: null,
  weeks: [
    {
      week_start: '2026-11-16',
      scans: 5,
      complete_scans: 5,
      products: 1,
      listed: 0,
      returned: 0,
      delisted: 0,
      changed: 1,
      cheaper: 1,
      dearer: 0,
      mixed: 0,
    },
  ],
  changes: [
    {
      type: 'changed',
      observed_at: '2026-11-20T04:20:00.000Z',
      product_id: '7301948201123',
      title: 'Cove boot',
      price_move: 'cheaper',
      details: [],
      variants_listed: 0,
      variants_delisted: 0,
      variants_changed: 1,
      variants: [
        {
          variant_id: '42011938203747',
          price: { from: '149.00', to: '119.00' },
          compare_at_price: { from: null, to: '149.00' },
          available: null,
        },
      ],
    },
  ],
};
