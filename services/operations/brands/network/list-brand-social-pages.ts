import { SocialPage } from '#contracts/resources/corpus/social-page.ts';
import { listSocialPages } from '#projections/social-pages/read.ts';
import { socialPageExample } from '#operations/social-pages/examples.ts';
import { brandList } from '../brand-list.ts';

export const listBrandSocialPages = brandList({
  path: '/v1/brands/{brandId}/social-pages',
  operationId: 'listBrandSocialPages',
  scope: 'brands:read',
  summary: 'List the social pages of a brand',
  description:
    'Pages linked to the brand, most active ads first. Links that were held back are left out; a claim that cannot be served has the role `UNVERIFIED`. Links are observed associations, never ownership.',
  reply: { data: SocialPage, example: [socialPageExample] },
  reads: ['brands', 'social-pages'],
  list: listSocialPages,
});
