import { SocialPage } from '#contracts/resources/corpus/social-page.ts';
import { listSocialPages } from '#projections/social-pages/read.ts';
import { brandList } from '../brand-list.ts';
import { adSummary } from '#operations/endpoint/examples.ts';

const pageProfile = {
  username: 'harborandpine',
  page_category: 'Shoe store',
  verified: true,
  followers: 48_210,
  likes: 45_902,
};

const socialPageExample = {
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

export const listBrandSocialPages = brandList({
  path: '/v1/brands/{brandId}/social-pages',
  operationId: 'listBrandSocialPages',
  scope: 'brands:read',
  summary: 'List the social pages of a brand',
  description:
    'Pages linked to the brand, most active ads first. Withheld links are left out; the role is `UNVERIFIED` when the claimed one may not be published. Links are observed associations, never ownership.',
  reply: { data: SocialPage, example: [socialPageExample] },
  reads: ['brands', 'social-pages'],
  list: listSocialPages,
});
