import { Tool } from '#contracts/resources/corpus/tool.ts';
import { findTool, readToolsAsOf } from '#projections/tools/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { toolExample } from './examples.ts';
import { TOOL_UNKNOWN, toolParams, toolRefOf } from './find-tool-or-404.ts';

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
    const [tool, asOf] = await Promise.all([findTool(db, toolRefOf(params.toolSlug)), readToolsAsOf(db)]);
    if (!tool) throw TOOL_UNKNOWN;
    return { data: tool.item, asOf };
  },
});
