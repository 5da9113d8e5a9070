import { Partnership } from '#contracts/resources/corpus/social-page.ts';
import { listPartnerships } from '#projections/partnerships/read.ts';
import { brandList } from '../brand-list.ts';
import { CREATOR_PAGE } from '#operations/social-pages/examples.ts';

const partnershipExample = {
  creator: CREATOR_PAGE,
  ads: 14,
  brand_page_ads: 5,
  creator_page_ads: 9,
  active_ads: 6,
  first_seen_on: '2026-08-30',
  last_seen_on: '2026-11-20',
};

export const listBrandPartnerships = brandList({
  path: '/v1/brands/{brandId}/partnerships',
  operationId: 'listBrandPartnerships',
  scope: 'brands:read',
  summary: 'List the creators a brand ran branded content with',
  description:
    'Creators with branded content beside the brand in the last 365 days as of `meta.as_of`, in both directions, merged per creator, most ads first. What ads show; no contract is known of.',
  reply: { data: Partnership, example: [partnershipExample] },
  reads: ['brands', 'partnerships'],
  list: listPartnerships,
});
