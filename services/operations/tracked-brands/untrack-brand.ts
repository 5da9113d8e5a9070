import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { UntrackBrand, UntrackedBrand } from '#contracts/resources/workspace/tracked-brand.ts';
import { tracking, untrackBrand as decideToUntrack } from '#domain/workspace/tracked-brands.ts';
import { BRAND_ID, WORKSPACE_ID } from '../endpoint/examples.ts';
import { workspaceBrandParams } from '../endpoint/parameters.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';

export const untrackBrand = removalEndpoint({
  path: '/v1/workspaces/{ws}/tracked-brands/{brandId}',
  operationId: 'untrackBrand',
  tag: 'Tracked brands',
  scope: 'tracking:write',
  summary: 'Stop tracking a brand',
  description: 'Takes an empty object as body. `removed` is false when the brand was not tracked.',
  params: workspaceBrandParams,
  body: UntrackBrand,
  paramsExample: { ws: WORKSPACE_ID, brandId: BRAND_ID },
  reply: {
    data: UntrackedBrand,
    example: { brand_id: BRAND_ID, workspace_id: WORKSPACE_ID },
  },
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
    return { target: { brand_id, workspace_id }, removed: events.length > 0, position };
  },
});
