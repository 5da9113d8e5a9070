import { z } from 'zod';
import { SimilarSite } from '#contracts/resources/corpus/traffic.ts';
import { readSimilarSites } from '#projections/queries/similar-sites.ts';
import { listReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { BRAND_ID, brandReference, brandSummary } from '../endpoint/examples.ts';
import { brandParams, wholeNumber } from '../endpoint/parameters.ts';
import { withBrand } from './find-brand-or-404.ts';

const SITES_MAX = 50;
const SITES_DEFAULT = 8;

export const listSimilarSites = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/similar',
  operationId: 'listSimilarSites',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List similar sites',
  description:
    'Sites with similar visitors, by affinity, as a traffic provider estimates. A site of a public brand shows that brand.',
  params: brandParams,
  query: z.strictObject({
    limit: wholeNumber(
      z.int().min(1).max(SITES_MAX).default(SITES_DEFAULT).meta({ description: 'How many sites.' }),
    ),
  }),
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: SimilarSite,
    example: [
      {
        domain: brandSummary.domain,
        affinity: 0.82,
        provider_category: 'Lifestyle/Fashion',
        brand: brandReference,
        monthly_visits: 482_000,
        global_ranking: 91_204,
      },
    ],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'traffic'],
  handler: async ({ params, query }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      readSimilarSites(db, id, query.limit),
    );
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});
