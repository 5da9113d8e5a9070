import { Leakage } from '#contracts/resources/corpus/social-page.ts';
import { readLeakage } from '#projections/social-pages/read.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { withBrand } from '../find-brand-or-404.ts';
import { CREATOR_PAGE } from '#operations/social-pages/examples.ts';

const leakageExample = {
  active_ads: 131,
  own_page_ads: 97,
  third_party_ads: 27,
  unlinked_page_ads: 5,
  unnamed_page_ads: 2,
  own_pages: 1,
  third_party_pages: 1,
  unlinked_pages: 2,
  largest_third_party_pages: [{ page: CREATOR_PAGE, role: 'CREATOR', active_ads: 27 }],
};

export const getBrandLeakage = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/leakage',
  operationId: 'getBrandLeakage',
  tag: 'Brands',
  scope: 'brands:read',
  summary: "Read where a brand's ads run outside its own pages",
  description:
    "Counts of the active ads of the brand by the page that runs them: totals over all pages, and the ten largest pages of third parties. A page is its own when it is linked to the brand as `OFFICIAL` or `REGIONAL`. It is a third party's when it is linked to the brand in another role, or to other brands only. A page linked to no brand is counted as unlinked, never as a third party's.",
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: Leakage,
    example: leakageExample,
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'social-pages'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readLeakage(db, id));
    return { data: found.data, asOf: found.asOf ?? brand.profiled_at };
  },
});
