import { Tool } from '#contracts/resources/corpus/tool.ts';
import { findTool, readToolsAsOf } from '#projections/tools/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { TOOL_UNKNOWN, toolParams, toolRefOf } from './find-tool-or-404.ts';
import { toolSummary } from './examples.ts';
import { BASE_URL, brandSummary } from '../endpoint/examples.ts';

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
