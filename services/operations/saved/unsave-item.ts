import { savedStream } from '#contracts/events/workspace/saved-items.ts';
import { UnsavedItem, UnsaveItem } from '#contracts/resources/workspace/saved-item.ts';
import { saved, unsaveItem as decideToUnsave } from '#domain/workspace/saved-items.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';
import { itemReference } from '../items/examples.ts';
import { itemNamedBy, savedItemParams } from '../items/parameters.ts';

const { item_type, item_key } = itemReference;

export const unsaveItem = removalEndpoint({
  path: '/v1/workspaces/{ws}/saved/{itemType}/{itemKey}',
  operationId: 'unsaveItem',
  tag: 'Saved items',
  scope: 'collections:write',
  summary: 'Unsave an item',
  description: 'Takes an empty object as body. `removed` is false when the item was not saved.',
  params: savedItemParams,
  body: UnsaveItem,
  paramsExample: { ws: WORKSPACE_ID, itemType: item_type, itemKey: item_key },
  reply: {
    data: UnsavedItem,
    example: { workspace_id: WORKSPACE_ID, item_type, item_key },
  },
  handler: async ({ params, caller, execute }, dependencies) => {
    const workspace_id = params.ws;
    const item = itemNamedBy(params);
    const at = dependencies.clock.now().toISOString();
    const { events, position } = await execute({
      stream: savedStream(workspace_id, item),
      decider: saved,
      decision: decideToUnsave({ workspace_id, item, by: caller.memberId, at }),
      shownIn: ['saved'],
    });
    return { target: { workspace_id, ...item }, removed: events.length > 0, position };
  },
});
