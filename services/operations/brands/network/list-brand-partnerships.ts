import { Partnership } from '#contracts/resources/corpus/social-page.ts';
import { listPartnerships } from '#projections/partnerships/read.ts';
import { partnershipExample } from '#operations/social-pages/examples.ts';
import { brandList } from '../brand-list.ts';

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
