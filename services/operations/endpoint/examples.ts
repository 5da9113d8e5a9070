/** Tests validate each example against the schema of its endpoint. */

export const BASE_URL = 'https://ads.example.com';
export const WORKSPACE_ID = 'ws_4k7m2q9x8t3b6c1d';
export const BRAND_ID = 'c1f2b6a0-52a7-5b7e-9c4b-1f0d5a7e3c11';
export const KEY_ID = 'key_7m3x9q2v5t8w1z4c';
export const AD_ID = '1203847561029384';

const category = { id: '7a0c2f4e-9b1d-5c3a-8e6f-0d2b4a6c8e10', slug: 'apparel', name: 'Apparel' };
const middleCategory = { id: '1b3d5f70-2c4e-5a6b-9d8f-3e5a7c9b1d2f', slug: 'shoes', name: 'Shoes' };

export const brandReference = {
  id: BRAND_ID,
  slug: 'harbor-and-pine',
  name: 'Harbor & Pine',
  logo_url: 'https://harbor-and-pine.com/logo.png',
  url: `${BASE_URL}/v1/brands/harbor-and-pine`,
};

export const formats = { video: 41, image: 62, carousel: 18, dco: 5, other: 0 };

export const brandSummary = {
  id: BRAND_ID,
  slug: 'harbor-and-pine',
  name: 'Harbor & Pine',
  domain: 'harbor-and-pine.com',
  url: `${BASE_URL}/v1/brands/harbor-and-pine`,
  logo_url: 'https://harbor-and-pine.com/logo.png',
  country: 'US',
  category,
  mid_category: middleCategory,
  active_ads: 126,
  total_ads: 904,
  new_ads_7d: 17,
  indexable: true,
  as_of: '2026-11-20T06:00:00.000Z',
};

export const freshnessExample = {
  as_of: '2026-11-20T06:00:00.000Z',
  last_reliable_at: '2026-11-20T06:00:00.000Z',
  next_due: '2026-11-21T06:00:00.000Z',
  freshness_tier: 'daily',
};

export const adSummary = {
  id: AD_ID,
  brand_id: BRAND_ID,
  page: { page_id: '104857600123456', page_name: 'Harbor & Pine' },
  status: 'active',
  format: 'video',
  body: 'The Cove boot is back, in three new colours.',
  title: 'Cove boot',
  cta_type: 'SHOP_NOW',
  cta_text: 'Shop now',
  destination_url: 'https://harbor-and-pine.com/products/cove-boot',
  platforms: ['facebook', 'instagram'],
  countries: ['US'],
  started_on: '2026-11-02',
  stopped_on: null,
  first_seen_at: '2026-11-02T06:00:00.000Z',
  last_seen_at: '2026-11-20T06:00:00.000Z',
  days_active: 18,
  library_url: `https://www.facebook.com/ads/library/?id=${AD_ID}`,
};

export const radarItem = {
  id: '0f6a1d52-8a3c-5d7e-b1f4-6c2e9a0b7d35',
  type: 'ad_started',
  observed_at: '2026-11-20T06:00:00.000Z',
  brand: brandReference,
  ad: {
    id: AD_ID,
    page: adSummary.page,
    format: 'video',
    title: adSummary.title,
    body: adSummary.body,
    started_on: adSummary.started_on,
    url: `${BASE_URL}/v1/ads/${AD_ID}`,
  },
  destination_url: adSummary.destination_url,
  previous_destination_url: null,
  basis: null,
  stopped_on: null,
  correction: null,
};

export const trackedBrand = {
  brand_id: BRAND_ID,
  workspace_id: WORKSPACE_ID,
  cadence: 'daily',
  url: brandSummary.url,
  created_at: '2026-11-20T09:30:00.000Z',
};

export const apiKey = {
  key_id: KEY_ID,
  workspace_id: WORKSPACE_ID,
  name: 'Weekly export',
  last_four: 'Zq4k',
  scopes: ['brands:read', 'me:read'],
  status: 'active',
  created_at: '2026-11-20T09:30:00.000Z',
  created_by: { id: 'mem_5t8w1z4c7m3x9q2v', name: 'Ada' },
  replaces: null,
  last_used_at: null,
  revoked_at: null,
};

export const createdApiKey = { ...apiKey, api_key: 'svc_live_7Qm2Zx9Kc4Tb1Rw8Yd3Nf6Hs5Jg0Lp00Zq4k' };

export const queuedReport = {
  id: '9a4d2c7e-1b5f-5e83-a6c0-3f8e7d2b1c94',
  status: 'queued',
  from: '2026-10-01',
  to: '2026-10-31',
  brand_ids: null,
  brands: 12,
  types: ['ad_started', 'ad_stopped', 'destination_changed'],
  created_at: '2026-11-20T09:30:00.000Z',
  started_at: null,
  finished_at: null,
  failure: null,
  rows: null,
  sha256: null,
  size_bytes: null,
  download_url: null,
  download_expires_at: null,
};

export const readyReport = {
  ...queuedReport,
  status: 'ready',
  started_at: '2026-11-20T09:30:01.000Z',
  finished_at: '2026-11-20T09:30:02.000Z',
  rows: 418,
  sha256: 'b1946ac92492d2347c6235b4d2611184a1b2c3d4e5f60718293a4b5c6d7e8f90',
  size_bytes: 151_204,
  download_url: `${BASE_URL}/v1/reports/download/radar-2026-10-01-to-2026-10-31.csv?object=reports%2F4k7m&expires=1795167900&signature=c2lnbmF0dXJl`,
  download_expires_at: '2026-11-20T09:45:00.000Z',
};

export const briefSummary = {
  id: '5c8e1f3a-7d2b-5a96-b4e0-9d1c6f8a2b37',
  week: '2026-W46',
  from: '2026-11-09',
  to: '2026-11-15',
  brands: 1,
  changes: { ads_started: 17, ads_stopped: 9, destinations_changed: 2 },
  feedback: 'useful',
  created_at: '2026-11-16T06:00:01.000Z',
};

export const OPERATOR_ID = '3d7b9f1c-5e2a-5c84-a6d0-8b4f2e6c1a39';
export const CREATOR_PAGE = { page_id: '110293847561029', page_name: 'Coastal Finds' };
export const OTHER_BRAND_ID = 'd4a7c9e2-6b1f-5d83-8c5a-2f0e4b6d8a17';
export const otherBrandReference = {
  id: OTHER_BRAND_ID,
  slug: 'tide-wool',
  name: 'Tide Wool',
  logo_url: null,
  url: `${BASE_URL}/v1/brands/tide-wool`,
};

export const operatorFields = {
  id: OPERATOR_ID,
  name: 'Harbor Holdings Inc.',
  country: 'US',
  domains: 2,
  pages: 1,
  observed_at: '2026-10-02T08:00:00.000Z',
  url: `${BASE_URL}/v1/operators/${OPERATOR_ID}`,
};
export const operatorSummaryExample = { ...operatorFields, public_brands: 2 };
