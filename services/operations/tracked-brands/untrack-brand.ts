import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { UntrackBrand, UntrackedBrand } from '#contracts/resources/workspace/tracked-brand.ts';
import { tracking, untrackBrand as decideToUntrack } from '#domain/workspace/tracked-brands.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { BRAND_ID, WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceBrandParams } from '../endpoint/parameters.ts';

export const untrackBrand = endpoint({
  method: 'DELETE',
  path: '/v1/workspaces/{ws}/tracked-brands/{brandId}',
  operationId: 'untrackBrand',
  tag: 'Tracked brands',
  scope: 'tracking:write',
  summary: 'Stop tracking a brand',
  description: 'Takes an empty object as body. `removed` is false when the brand was not tracked.',
  params: workspaceBrandParams,
  query: noQuery,
  body: { schema: UntrackBrand, example: {} },
  paramsExample: { ws: WORKSPACE_ID, brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: UntrackedBrand,
    example: { brand_id: BRAND_ID, workspace_id: WORKSPACE_ID, removed: true },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, execute }, dependencies) => {
    const brand_id = params.brandId.toLowerCase();
    const workspace_id = params.ws;
    const { events, position } = await execute({
      stream: trackingStream(workspace_id),
      decider: tracking,
      decision: decideToUntrack({ workspace_id, brand_id, at: dependencies.clock.now().toISOString() }),
      shownIn: ['tracking', 'freshness'],
      isShared: true,
    });
    return {
      data: JSON.stringify({ brand_id, workspace_id, removed: events.length > 0 }),
      asOf: null,
      position,
    };
  },
});
