import { TechStackItem } from '#contracts/resources/corpus/tool.ts';
import { readTechStack } from '#projections/tools/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { techStackItem } from '#operations/tools/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

export const getBrandTechStack = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/tech-stack',
  operationId: 'getBrandTechStack',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the tech stack',
  description:
    "Tools detected on the brand's site, by tool category, then name. Detection can be wrong, and a site that was never scanned shows none. A tool is gone when two complete scans at least 20 hours apart miss it.",
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'whole', data: TechStackItem, example: [techStackItem] },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'tools'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readTechStack(db, id));
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});
