import { ReusedCopy } from '#contracts/resources/corpus/social-page.ts';
import { listReusedCopy } from '#projections/social-pages/read.ts';
import { brandList } from '../brand-list.ts';
import { adSummary } from '#operations/endpoint/examples.ts';

const reusedCopyExample = {
  body: adSummary.body,
  brand_ads: 4,
  foreign_ads: 3,
  foreign_pages: 1,
  largest_foreign_pages: [{ page: { page_id: '118273645546372', page_name: 'Boot Outlet' }, active_ads: 3 }],
};

export const getBrandCopyReuse = brandList({
  path: '/v1/brands/{brandId}/copy-reuse',
  operationId: 'getBrandCopyReuse',
  scope: 'brands:read',
  summary: "Read which of a brand's texts run elsewhere",
  description:
    'Ad texts of the brand that pages not linked to it run too, most foreign ads first, at most twelve. Texts are equal when they have the same words in the same order; catalogue templates do not count. The figures do not say who wrote a text first.',
  reply: { data: ReusedCopy, example: [reusedCopyExample] },
  reads: ['brands', 'social-pages'],
  list: listReusedCopy,
});
