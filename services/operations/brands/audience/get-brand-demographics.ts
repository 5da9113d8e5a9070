import { Demographics } from '#contracts/resources/corpus/traffic.ts';
import { readEstimatedSite } from '#projections/traffic/read.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { demographicsExample } from '#operations/audience/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

/** Without estimates, every group is `null`. */
const WITHOUT_ESTIMATES = JSON.stringify(
  Object.fromEntries(Object.keys(Demographics.shape).map((group) => [group, null])),
);

export const getBrandDemographics = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/demographics',
  operationId: 'getBrandDemographics',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the demographics of visitors',
  description:
    "Shares of the visitors of the brand's site by sex and age, as a traffic provider estimates them; null when it states none.",
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'record', data: Demographics, example: demographicsExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'traffic'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readEstimatedSite(db, id));
    return { data: found.demographics ?? WITHOUT_ESTIMATES, asOf: found.as_of ?? brand.profiled_at };
  },
});
