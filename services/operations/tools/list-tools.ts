import { z } from 'zod';
import { ToolSummary } from '#contracts/resources/corpus/tool.ts';
import { listTools as readTools, readToolsAsOf } from '#projections/tools/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery, searchText } from '../endpoint/parameters.ts';
import { toolSummary } from './examples.ts';

const TOOL_CATEGORY_MAX_LENGTH = 100;

export const listTools = endpoint({
  method: 'GET',
  path: '/v1/tools',
  operationId: 'listTools',
  tag: 'Tools',
  scope: 'tools:read',
  summary: 'List tools',
  description: "Tools detected on public brands' sites, most adopted first.",
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    category: searchText(TOOL_CATEGORY_MAX_LENGTH)
      .optional()
      .meta({ description: 'Category of the tool, such as `A/B testing`, in upper or lower case.' }),
  }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'paged', data: ToolSummary, example: [toolSummary] },
  errors: [],
  corpus: true,
  reads: ['tools'],
  handler: async ({ query, page }, { db }) => {
    const [asOf, found] = await Promise.all([
      readToolsAsOf(db),
      readTools(db, omitUndefined({ category: query.category }), page),
    ]);
    return pageReply(found, asOf);
  },
});
