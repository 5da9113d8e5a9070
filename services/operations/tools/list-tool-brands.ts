import { z } from 'zod';
import { Country } from '#contracts/values/primitives.ts';
import { ToolBrand } from '#contracts/resources/corpus/tool.ts';
import { listBrandsOfTool } from '#projections/queries/tool-brands.ts';
import { findToolSlug, readToolsAsOf } from '#projections/tools/read.ts';
import { readNewestObservation } from '#projections/brands/read.ts';
import { latestOf, oldestOf } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { pageQuery } from '../endpoint/parameters.ts';
import { TOOL_UNKNOWN, toolParams, toolRefOf } from './find-tool-or-404.ts';
import { brandSummary } from '../endpoint/examples.ts';

const toolBrandExample = {
  rank: 1,
  brand: brandSummary,
  monthly_visits: 1_840_000,
  estimated_for: '2026-10-01',
  top_country: 'US',
  detected_at: '2026-09-14T05:10:00.000Z',
  missing_since: null,
};

export const listToolBrands = endpoint({
  method: 'GET',
  path: '/v1/tools/{toolSlug}/brands',
  operationId: 'listToolBrands',
  tag: 'Tools',
  scope: 'tools:read',
  summary: 'List the brands that have a tool',
  description:
    'Public brands with the tool on their sites, by estimated monthly visits; brands without an estimate come last.',
  params: toolParams,
  query: z.strictObject({
    ...pageQuery,
    country: Country.optional().meta({ description: 'Only brands with this top traffic country.' }),
  }),
  body: null,
  paramsExample: { toolSlug: 'arm-and-leg' },
  reply: { status: 200, shape: 'paged', data: ToolBrand, example: [toolBrandExample] },
  errors: ['not_found'],
  corpus: true,
  reads: ['tools', 'brands'],
  handler: async ({ params, query, page }, { db }) => {
    const slug = await findToolSlug(db, toolRefOf(params.toolSlug));
    if (slug === null) throw TOOL_UNKNOWN;
    const filter = { slug, ...omitUndefined({ country: query.country }) };
    const [brandsAsOf, reply] = await Promise.all([
      readNewestObservation(db),
      pageAsOf(
        () => listBrandsOfTool(db, filter, page),
        ({ asOf }) => latestOf(asOf),
        () => readToolsAsOf(db),
      ),
    ]);
    return { ...reply, asOf: oldestOf([reply.asOf, brandsAsOf]) };
  },
});
