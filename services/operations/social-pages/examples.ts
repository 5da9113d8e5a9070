import { adSummary, BRAND_ID, brandReference } from '../endpoint/examples.ts';

/** Examples of social pages, brand networks and operators in the API documentation. */

const BASE_URL = 'https://ads.example.com';
export const OPERATOR_ID = '3d7b9f1c-5e2a-5c84-a6d0-8b4f2e6c1a39';
const CREATOR_PAGE = { page_id: '110293847561029', page_name: 'Coastal Finds' };
const OTHER_BRAND_ID = 'd4a7c9e2-6b1f-5d83-8c5a-2f0e4b6d8a17';
const otherBrandReference = {
  id: OTHER_BRAND_ID,
  slug: 'tide-wool-com',
  name: 'Tide Wool',
  logo_url: null,
  url: `${BASE_URL}/v1/brands/tide-wool-com`,
};

const pageProfile = {
  username: 'harborandpine',
  page_category: 'Shoe store',
  verified: true,
  followers: 48_210,
  likes: 45_902,
};

export const socialPageExample = {
  page_id: adSummary.page.page_id,
  page_name: adSummary.page.page_name,
  role: 'OFFICIAL',
  confidence: 0.98,
  active_ads: 97,
  total_ads: 701,
  ...pageProfile,
  profiles: [
    {
      source: 'library',
      observed_at: '2026-11-19T04:00:00.000Z',
      page_name: adSummary.page.page_name,
      ...pageProfile,
    },
  ],
};

export const leakageExample = {
  active_ads: 126,
  own_page_ads: 97,
  third_party_ads: 27,
  unnamed_page_ads: 2,
  own_pages: 1,
  third_party_pages: 1,
  largest_third_party_pages: [{ page: CREATOR_PAGE, role: 'CREATOR', active_ads: 27 }],
};

export const reusedCopyExample = {
  body: adSummary.body,
  brand_ads: 4,
  foreign_ads: 3,
  foreign_pages: 1,
  largest_foreign_pages: [{ page: { page_id: '118273645546372', page_name: 'Boot Outlet' }, active_ads: 3 }],
};

export const partnershipExample = {
  creator: CREATOR_PAGE,
  ads: 14,
  brand_page_ads: 5,
  creator_page_ads: 9,
  active_ads: 6,
  first_seen_on: '2026-08-30',
  last_seen_on: '2026-11-20',
};

export const hubExample = {
  page: CREATOR_PAGE,
  followers: 212_400,
  brands: 2,
  active_ads: 39,
  roster: [
    { brand: brandReference, active_ads: 27 },
    { brand: otherBrandReference, active_ads: 12 },
  ],
};

export const networkExample = {
  brands: [
    { brand: brandReference, linked_brands: 1 },
    { brand: otherBrandReference, linked_brands: 1 },
  ],
  links: [{ brand_ids: [BRAND_ID, OTHER_BRAND_ID], shared_pages: 1, confidence: 0.5 }],
  brands_with_link: 2,
  brands_without_link: 0,
};

const operatorFields = {
  id: OPERATOR_ID,
  name: 'Harbor Holdings Inc.',
  country: 'US',
  domains: 2,
  pages: 1,
  observed_at: '2026-10-02T08:00:00.000Z',
  url: `${BASE_URL}/v1/operators/${OPERATOR_ID}`,
};
export const operatorSummaryExample = { ...operatorFields, public_brands: 2 };
export const operatorOfBrandExample = {
  ...operatorFields,
  bases: ['site_imprint'],
  other_brands: [otherBrandReference],
};
export const operatorExample = {
  ...operatorSummaryExample,
  brands: [brandReference, otherBrandReference],
  domain_associations: [
    { domain: 'harbor-and-pine.com', bases: ['company_register', 'site_imprint'] },
    { domain: 'tide-wool.com', bases: ['site_imprint'] },
  ],
  page_associations: [{ page_id: adSummary.page.page_id, bases: ['page_transparency'] }],
};
