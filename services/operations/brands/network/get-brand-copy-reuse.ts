import { ReusedCopy } from '#contracts/resources/corpus/social-page.ts';
import { listReusedCopy } from '#projections/social-pages/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { reusedCopyExample } from '#operations/social-pages/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

export const getBrandCopyReuse = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/copy-reuse',
  operationId: 'getBrandCopyReuse',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read which of its texts run elsewhere',
  description:
    'Ad texts that the brand runs and pages outside of its linked pages run too, most foreign ads first, at most twelve. Texts are the same when they say the same words in the same order; templates that a catalogue fills in are no copy. Says nothing of who wrote a text first.',
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: ReusedCopy,
    example: [reusedCopyExample],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'social-pages'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => listReusedCopy(db, id));
    return listReply(found, brand.as_of);
  },
});
