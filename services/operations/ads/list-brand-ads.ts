import { z } from 'zod';
import { AdSummary } from '#contracts/resources/corpus/ads/ad.ts';
import { listBrandAds as readBrandAds } from '#projections/ads/read.ts';
import { readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { adSummary, BRAND_ID } from '../endpoint/examples.ts';
import { brandParams, pageQuery } from '../endpoint/parameters.ts';
import { withBrand } from '../brands/find-brand-or-404.ts';

export const listBrandAds = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/ads',
  operationId: 'listBrandAds',
  tag: 'Ads',
  scope: 'ads:read',
  summary: "List a brand's ads",
  description: 'The ads attributed to the brand, newest start first.',
  params: brandParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'paged', data: AdSummary, example: [adSummary] },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'ads'],
  handler: async ({ params, page }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      Promise.all([readScannedAt(db, 'ads', id), readBrandAds(db, id, page)]),
    );
    const [asOf, ads] = found;
    return pageReply(ads, asOf ?? brand.profiled_at);
  },
});
