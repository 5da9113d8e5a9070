import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Brief, BriefSummary, GiveBriefFeedback } from '#contracts/resources/workspace/brief.ts';
import { findBrief, findBriefSummary, listBriefs as readBriefs } from '#projections/briefs/read.ts';
import { briefStream } from '#contracts/events/workspace/brief.ts';
import {
  type BriefState,
  addChanges,
  brief,
  giveBriefFeedback as decideOnFeedback,
} from '#domain/workspace/brief.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { WORKSPACE_ID, brandReference, briefSummary, radarItem } from './endpoint/examples.ts';
import { briefParams, noQuery, pageQuery } from './endpoint/parameters.ts';
import { pageReply, writtenText } from './endpoint/reply.ts';
import { restatedLink } from './restatements.ts';
import { workspaceRead } from './endpoint/kinds.ts';

const briefExample = {
  ...briefSummary,
  changes_by_brand: [{ brand: brandReference, changes: briefSummary.changes }],
  notable_items: [radarItem],
};

export const getBrief = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/briefs/{briefId}',
  operationId: 'getBrief',
  tag: 'Briefs',
  scope: 'briefs:read',
  summary: 'Read a weekly brief',
  description:
    'Change counts per tracked brand and up to ten notable radar items of one week. When a late scan changed counts afterwards, the header `link` names the restatements.',
  params: briefParams,
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID, briefId: briefExample.id },
  reply: { status: 200, shape: 'record', data: Brief, example: briefExample },
  errors: ['not_found'],
  corpus: false,
  reads: ['briefs', 'restatements'],
  handler: async ({ params }, { db }) => {
    const data = await findBrief(db, params.ws, params.briefId);
    if (data === null) throw new Refusal('not_found', 'Brief not found.');
    return { data, asOf: null, ...(await restatedLink(db, params.ws, 'brief_id', params.briefId)) };
  },
});

const summaryOf = ({ prepared, feedback }: NonNullable<BriefState>): BriefSummary => {
  const { brief_id, week, from, to, brands, prepared_at } = prepared;
  const changes = addChanges(brands);
  return { id: brief_id, week, from, to, brands: brands.length, changes, feedback, created_at: prepared_at };
};

export const giveBriefFeedback = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/{ws}/briefs/{briefId}',
  operationId: 'giveBriefFeedback',
  tag: 'Briefs',
  scope: 'briefs:write',
  summary: 'Say how good a weekly brief was',
  description: 'Records useful, already known or wrong; null clears it.',
  params: briefParams,
  query: noQuery,
  body: { schema: GiveBriefFeedback, example: { feedback: 'useful' } },
  paramsExample: { ws: WORKSPACE_ID, briefId: briefSummary.id },
  reply: { status: 200, shape: 'record', data: BriefSummary, example: briefSummary },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, body, execute }, dependencies) => {
    const workspace_id = params.ws;
    const brief_id = params.briefId.toLowerCase();
    const { feedback } = body;
    const { state, position, isShown } = await execute({
      stream: briefStream(workspace_id, brief_id),
      decider: brief,
      decision: decideOnFeedback({
        workspace_id,
        brief_id,
        feedback,
        at: dependencies.clock.now().toISOString(),
      }),
      shownIn: ['briefs'],
    });
    if (!state) throw new Error('brief with feedback has no state');
    const data = await writtenText(
      { isShown, log: dependencies.log },
      () => findBriefSummary(dependencies.db, workspace_id, brief_id),
      () => JSON.stringify(summaryOf(state)),
    );
    return { data, asOf: null, position };
  },
});

export const listBriefs = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/briefs',
  operationId: 'listBriefs',
  tag: 'Briefs',
  scope: 'briefs:read',
  summary: 'List weekly briefs',
  description:
    'The weekly briefs of the workspace with their radar change counts, newest period first. A brief is prepared on the Monday after its week, at 06:00 UTC, if any brand was tracked.',
  query: z.strictObject(pageQuery),
  reply: { status: 200, shape: 'paged', data: BriefSummary, example: [briefSummary] },
  reads: ['briefs'],
  handler: async ({ params, page }, { db }) => pageReply(await readBriefs(db, params.ws, page), null),
});
