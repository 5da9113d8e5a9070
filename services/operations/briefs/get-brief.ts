import { Refusal } from '#contracts/errors.ts';
import { Brief } from '#contracts/resources/workspace/brief.ts';
import { findBrief } from '#projections/briefs/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID, brandReference, briefSummary, radarItem } from '../endpoint/examples.ts';
import { briefParams, noQuery } from '../endpoint/parameters.ts';

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
  description: 'Change counts per tracked brand and up to ten notable radar items of one week.',
  params: briefParams,
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID, briefId: briefExample.id },
  reply: { status: 200, shape: 'record', data: Brief, example: briefExample },
  errors: ['not_found'],
  corpus: false,
  reads: ['briefs'],
  handler: async ({ params }, { db }) => {
    const data = await findBrief(db, params.ws, params.briefId);
    if (data === null) throw new Refusal('not_found', 'Brief not found.');
    return { data, asOf: null };
  },
});
