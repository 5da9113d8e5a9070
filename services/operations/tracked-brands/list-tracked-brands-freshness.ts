import { TrackedBrandFreshness } from '#contracts/resources/workspace/tracked-brand.ts';
import { listTrackedFreshness, readTrackedAsOf } from '#projections/freshness/read.ts';
import { listReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandReference, freshnessExample, WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';

export const listTrackedBrandsFreshness = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/tracked-brands/freshness',
  operationId: 'listTrackedBrandsFreshness',
  tag: 'Tracked brands',
  scope: 'brands:read',
  summary: 'List the freshness of tracked brands',
  description:
    'Hours since the last reliable scan of each tracked brand, and the hours that its cadence allows, most overdue first.',
  params: workspaceParams,
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: TrackedBrandFreshness,
    example: [
      {
        brand: brandReference,
        cadence: 'daily',
        freshness: freshnessExample,
        slo_hours: 36,
        hours_since_reliable: 4,
        slo_status: 'ok',
      },
    ],
  },
  errors: ['not_found'],
  corpus: false,
  reads: ['freshness'],
  handler: async ({ params }, { db, clock }) => {
    const [asOf, items] = await Promise.all([
      readTrackedAsOf(db, params.ws),
      listTrackedFreshness(db, params.ws, clock.now()),
    ]);
    return listReply(items, asOf);
  },
});
