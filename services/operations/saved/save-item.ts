import { savedStream } from '#contracts/events/workspace/saved-items.ts';
import { ItemReference } from '#contracts/values/items.ts';
import { SAVED_ITEMS_MAX, SavedItem } from '#contracts/resources/workspace/saved-item.ts';
import { saved, saveItem as decideToSave } from '#domain/workspace/saved-items.ts';
import { countSavedItems, findSavedItem } from '#projections/saved/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { writtenText } from '../endpoint/written-text.ts';
import { itemReference, placedItem } from '../items/examples.ts';

export const saveItem = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/saved',
  operationId: 'saveItem',
  tag: 'Saved items',
  scope: 'collections:write',
  summary: 'Save an item',
  description: `Saves an item for the whole workspace. Saving it again changes nothing and returns the saved item. The service need not know the object. 409 when the workspace has saved ${SAVED_ITEMS_MAX} items.`,
  params: workspaceParams,
  query: noQuery,
  body: { schema: ItemReference, example: itemReference },
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 201, shape: 'record', data: SavedItem, example: placedItem },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, body: item, caller, execute }, dependencies) => {
    const workspace_id = params.ws;
    const at = dependencies.clock.now().toISOString();
    const saved_items = await countSavedItems(dependencies.db, workspace_id);
    const { state, position, isShown } = await execute({
      stream: savedStream(workspace_id, item),
      decider: saved,
      decision: decideToSave({ workspace_id, item, by: caller.memberId, at, saved_items }),
      shownIn: ['saved'],
    });
    const data = await writtenText(
      { isShown, log: dependencies.log },
      () => findSavedItem(dependencies.db, workspace_id, item),
      () => JSON.stringify({ ...item, ...state }),
    );
    return { data, asOf: null, position };
  },
});
