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
  summary: "List a brand's branded-content creators",
  description:
    'Creators who ran branded content with the brand in the 365 days before `meta.as_of`, most ads first. Counts ads of the brand that name the creator and ads of the creator that name the brand. Ads are no evidence of a contract.',
  reply: { data: Partnership, example: [partnershipExample] },
  reads: ['brands', 'partnerships'],
  list: listPartnerships,
});
