import { z } from 'zod';
import { BriefSummary } from '#contracts/resources/workspace/brief.ts';
import { listBriefs as readBriefs } from '#projections/briefs/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { briefSummary, WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';

export const listBriefs = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/briefs',
  operationId: 'listBriefs',
  tag: 'Briefs',
  scope: 'briefs:read',
  summary: 'List weekly briefs',
  description:
    'The weekly briefs of the workspace with their radar change counts, newest period first. A brief is prepared on the Monday after its week, at 06:00 UTC, if any brand was tracked.',
  params: workspaceParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: BriefSummary, example: [briefSummary] },
  errors: ['not_found'],
  corpus: false,
  reads: ['briefs'],
  handler: async ({ params, page }, { db }) => pageReply(await readBriefs(db, params.ws, page), null),
});
