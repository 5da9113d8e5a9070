import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { RequestReport } from '#contracts/resources/workspace/report.ts';
import { requestReport as requestReportEndpoint } from '#operations/reports.ts';
import { ItemKey, ItemTypeName, SubjectTypeName } from '#contracts/values/items.ts';
import { Cadence, Uuid } from '#contracts/values/primitives.ts';
import { addCollectionItem } from '#operations/collections.ts';
import { saveItem as saveItemEndpoint } from '#operations/saved.ts';
import {
  trackBrand as trackBrandEndpoint,
  untrackBrand as untrackBrandEndpoint,
} from '#operations/tracked-brands.ts';
import { NOTE_BODY_MAX_LENGTH } from '#contracts/resources/workspace/note.ts';
import { writeNote as writeNoteEndpoint } from '#operations/notes.ts';
import { OBSERVED_IN_FETCH_MAX, separate } from '../output/observed.ts';
import { structuredResult, timesOf } from '../output/result.ts';
import { type EndpointInput, type ToolContext, tool } from './define-tool.ts';
import { Brand, brandIdOf, isUuid, slugCost } from './parameters.ts';

export const written = async (
  endpoint: Endpoint,
  input: EndpointInput,
  context: ToolContext,
): Promise<CallToolResult> => {
  const { data, asOf } = await context.call(endpoint, input);
  const options = { maxLength: OBSERVED_IN_FETCH_MAX, baseUrl: context.baseUrl, isOwn: true };
  return structuredResult({
    written: separate(data, options),
    // The time after the write, so that it is not before the record.
    ...timesOf([asOf], context.clock.now().getTime()),
    notes: [],
  });
};

export const requestReport = tool({
  name: 'request_report',
  title: 'Request a report',
  description:
    'Requests a CSV file of changes at tracked brands. `get_workspace` with `reports` has its link once it is ready. Give `idempotency_key` so that a repeated call makes no second report.',
  input: z.strictObject(RequestReport.shape),
  output: 'structured',
  kind: 'writer',
  scopes: () => ['reports:write'],
  cost: () => 1,
  run: (body, context) => written(requestReportEndpoint, { body }, context),
});

export const saveItem = tool({
  name: 'save_item',
  title: 'Save an item',
  description: 'Saves an ad, brand, creative or page for the workspace, or adds it to a collection.',
  input: z.strictObject({
    item_type: ItemTypeName,
    item_key: ItemKey,
    collection_id: Uuid.optional().meta({ description: 'Adds the item to this collection instead.' }),
  }),
  output: 'structured',
  kind: 'writer',
  scopes: () => ['collections:write'],
  cost: () => 1,
  run: ({ item_type, item_key, collection_id: collectionId }, context) => {
    const body = { item_type, item_key };
    return collectionId === undefined
      ? written(saveItemEndpoint, { body }, context)
      : written(addCollectionItem, { params: { collectionId }, body }, context);
  },
});

export const trackBrand = tool({
  name: 'track_brand',
  title: 'Track a brand',
  description:
    'Adds a brand to the tracked brands of the workspace, or changes how often it is scanned. Uses a slot of the plan.',
  input: z.strictObject({ brand: Brand, cadence: Cadence.default('weekly') }),
  output: 'structured',
  kind: 'writer',
  scopes: ({ brand }) =>
    brand === undefined || isUuid(brand) ? ['tracking:write'] : ['tracking:write', 'brands:read'],
  cost: ({ brand }) => 1 + slugCost(brand),
  run: async ({ brand, cadence }, context) => {
    const body = { brand_id: await brandIdOf(context, brand), cadence };
    return written(trackBrandEndpoint, { body }, context);
  },
});

export const untrackBrand = tool({
  name: 'untrack_brand',
  title: 'Stop tracking a brand',
  description: 'Removes a brand from the tracked brands of the workspace; its changes are no longer listed.',
  input: z.strictObject({ brand: Brand }),
  output: 'structured',
  kind: 'writer',
  isDestructive: true,
  scopes: ({ brand }) =>
    brand === undefined || isUuid(brand) ? ['tracking:write'] : ['tracking:write', 'brands:read'],
  cost: ({ brand }) => 1 + slugCost(brand),
  run: async ({ brand }, context) =>
    written(
      untrackBrandEndpoint,
      { params: { brandId: await brandIdOf(context, brand) }, body: {} },
      context,
    ),
});

export const writeNote = tool({
  name: 'write_note',
  title: 'Write a note',
  description: "Writes the member's note on a subject. It replaces their earlier note on the same subject.",
  input: z.strictObject({
    subject_type: SubjectTypeName,
    subject_key: ItemKey,
    text: z.string().min(1).max(NOTE_BODY_MAX_LENGTH),
  }),
  output: 'structured',
  kind: 'writer',
  scopes: () => ['notes:write'],
  cost: () => 1,
  run: ({ subject_type, subject_key, text }, context) =>
    written(writeNoteEndpoint, { body: { subject_type, subject_key, body: text } }, context),
});
