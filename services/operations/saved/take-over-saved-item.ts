import { z } from 'zod';
import { savedStream } from '#contracts/events/workspace/saved-items.ts';
import { SavedItem } from '#contracts/resources/workspace/saved-item.ts';
import { saved, takeOverSavedItem as decideToTakeOver } from '#domain/workspace/saved-items.ts';
import { findSavedItem } from '#projections/saved/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { writtenText } from '../endpoint/written-text.ts';
import { itemReference, placedItem } from '../items/examples.ts';
import { itemNamedBy, savedItemParams } from '../items/parameters.ts';

const { item_type, item_key } = itemReference;

export const takeOverSavedItem = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/saved/{itemType}/{itemKey}/take-over',
  operationId: 'takeOverSavedItem',
  tag: 'Saved items',
  scope: 'collections:write',
  summary: 'Take over a saved item',
  description:
    "Makes the key's member the one who saved the item, for instance after a colleague has left. Takes an empty object as body. Taking over an own item changes nothing.",
  params: savedItemParams,
  query: noQuery,
  body: {
    schema: z.strictObject({}).meta({ id: 'TakeOverSavedItem', description: 'An empty object.' }),
    example: {},
  },
  paramsExample: { ws: WORKSPACE_ID, itemType: item_type, itemKey: item_key },
  reply: { status: 200, shape: 'record', data: SavedItem, example: placedItem },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, caller, execute }, dependencies) => {
    const workspace_id = params.ws;
    const item = itemNamedBy(params);
    const at = dependencies.clock.now().toISOString();
    const { state, position, isShown } = await execute({
      stream: savedStream(workspace_id, item),
      decider: saved,
      decision: decideToTakeOver({ workspace_id, item, by: caller.memberId, at }),
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
