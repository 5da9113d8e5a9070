import { briefStream } from '#contracts/events/workspace/brief.ts';
import { BriefSummary, GiveBriefFeedback } from '#contracts/resources/workspace/brief.ts';
import {
  addChanges,
  brief,
  type BriefState,
  giveBriefFeedback as decideOnFeedback,
} from '#domain/workspace/brief.ts';
import { findBriefSummary } from '#projections/briefs/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { briefSummary, WORKSPACE_ID } from '../endpoint/examples.ts';
import { briefParams, noQuery } from '../endpoint/parameters.ts';
import { writtenText } from '../endpoint/written-text.ts';

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
