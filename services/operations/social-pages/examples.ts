import { BASE_URL } from '../endpoint/examples.ts';

export const OPERATOR_ID = '3d7b9f1c-5e2a-5c84-a6d0-8b4f2e6c1a39';
export const CREATOR_PAGE = { page_id: '110293847561029', page_name: 'Coastal Finds' };
export const OTHER_BRAND_ID = 'd4a7c9e2-6b1f-5d83-8c5a-2f0e4b6d8a17';
export const otherBrandReference = {
  id: OTHER_BRAND_ID,
  slug: 'tide-wool-com',
  name: 'Tide Wool',
  logo_url: null,
  url: `${BASE_URL}/v1/brands/tide-wool-com`,
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
