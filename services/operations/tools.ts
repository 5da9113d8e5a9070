import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import {
  type ToolRef,
  findTool,
  findToolSlug,
  listTools as readTools,
  readToolsAsOf,
} from '#projections/tools/read.ts';
import { Tool, ToolBrand, ToolSummary } from '#contracts/resources/corpus/tool.ts';
import { Country } from '#contracts/values/primitives.ts';
import { listBrandsOfTool } from '#projections/queries/brands.ts';
import { readNewestObservation } from '#projections/brands/read.ts';
import { BASE_URL, brandSummary } from './endpoint/examples.ts';
import { brandRefOf, noQuery, pageQuery, searchText, slugOrUuid } from './endpoint/parameters.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { latestOf, oldestOf, pageAsOf, pageReply } from './endpoint/reply.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { corpusRead } from './endpoint/kinds.ts';

export const TOOL_ID = '3f6d8b1a-9c2e-5f47-8a05-6b1d7e4c9f20';

export const techStackItem = {
  slug: 'arm-and-leg',
  name: 'Arm & Leg',
  category: 'A/B testing',
  website_url: 'https://arm-and-leg.example/',
  url: `${BASE_URL}/v1/tools/arm-and-leg`,
};

export const toolReference = { id: TOOL_ID, ...techStackItem };
export const toolSummary = { ...toolReference, brands: 412 };

export const toolParams = z.strictObject({
  toolSlug: slugOrUuid.meta({ description: 'Slug or uuid of a tool.' }),
});

export const toolRefOf = (text: string): ToolRef => brandRefOf(text);

/** A constant, because a stack trace per refusal costs more than the lookup. */
export const TOOL_UNKNOWN = new Refusal('not_found', 'Tool not found. No site scan has detected it.');

const toolExample = {
  ...toolSummary,
  adoption_by_category: [
    { category: brandSummary.category, brands: 96, scanned_brands: 1_280, share: 0.075 },
  ],
  common_combinations: [
    {
      tool: {
        id: 'b7e2c4d6-1f3a-5b8c-9d0e-2a4c6e8f0b13',
        slug: 'tidy-tags',
        name: 'Tidy Tags',
        category: 'Tag managers',
        website_url: null,
        url: `${BASE_URL}/v1/tools/tidy-tags`,
      },
      brands: 388,
      share: 0.9417,
    },
  ],
  traffic_split: [
    { visits_from: 0, visits_to: 10_000, brands: 40 },
    { visits_from: 10_000, visits_to: 100_000, brands: 171 },
    { visits_from: 100_000, visits_to: 1_000_000, brands: 126 },
    { visits_from: 1_000_000, visits_to: 10_000_000, brands: 31 },
    { visits_from: 10_000_000, visits_to: null, brands: 4 },
    { visits_from: null, visits_to: null, brands: 40 },
  ],
};

export const getTool = endpoint({
  method: 'GET',
  path: '/v1/tools/{toolSlug}',
  operationId: 'getTool',
  tag: 'Tools',
  scope: 'tools:read',
  summary: 'Read a tool',
  description:
    'One tool with its adoption by category, the tools most often found with it, and the brands that have it by estimated traffic. All counts are of public brands.',
  params: toolParams,
  query: noQuery,
  body: null,
  paramsExample: { toolSlug: 'arm-and-leg' },
  reply: { status: 200, shape: 'record', data: Tool, example: toolExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['tools'],
  handler: async ({ params }, { db }) => {
    const [asOf, tool] = await Promise.all([readToolsAsOf(db), findTool(db, toolRefOf(params.toolSlug))]);
    if (!tool) throw TOOL_UNKNOWN;
    return { data: tool.item, asOf };
  },
});

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

const TOOL_CATEGORY_MAX_LENGTH = 100;

export const listTools = endpoint({
  ...corpusRead,
  path: '/v1/tools',
  operationId: 'listTools',
  tag: 'Tools',
  scope: 'tools:read',
  summary: 'List tools',
  description: "Tools detected on public brands' sites, most adopted first.",
  query: z.strictObject({
    ...pageQuery,
    category: searchText(TOOL_CATEGORY_MAX_LENGTH)
      .optional()
      .meta({ description: 'Category of the tool, such as `A/B testing`, in upper or lower case.' }),
  }),
  reply: { status: 200, shape: 'paged', data: ToolSummary, example: [toolSummary] },
  reads: ['tools'],
  handler: async ({ query, page }, { db }) => {
    const [asOf, found] = await Promise.all([
      readToolsAsOf(db),
      readTools(db, omitUndefined({ category: query.category }), page),
    ]);
    return pageReply(found, asOf);
  },
});
