import { z } from 'zod';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Refusal } from '#contracts/errors.ts';
import type { Scope } from '#contracts/values/access.ts';
import { getMe } from '#operations/account.ts';
import { listAlertDeliveries } from '#operations/alerts/deliveries.ts';
import { listAlerts } from '#operations/alerts/rules.ts';
import { addCollectionItem, listCollections } from '#operations/collections.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { listNotes, writeNote as writeNoteEndpoint } from '#operations/notes.ts';
import { listReports, requestReport as requestReportEndpoint } from '#operations/reports.ts';
import { listSavedItems, saveItem as saveItemEndpoint } from '#operations/saved.ts';
import { getSystemFreshness } from '#operations/system.ts';
import {
  listTrackedBrands,
  listTrackedBrandsFreshness,
  trackBrand as trackBrandEndpoint,
  untrackBrand as untrackBrandEndpoint,
} from '#operations/tracked-brands.ts';
import { listBriefs as listBriefsEndpoint } from '#operations/briefs.ts';
import { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import { Cadence, CalendarDate, Uuid } from '#contracts/values/primitives.ts';
import { SignalKind } from '#contracts/values/signals.ts';
import { listRadar } from '#operations/radar.ts';
import { listBrandChanges, listWorkspaceChanges } from '#operations/brands/changes.ts';
import { listSignals } from '#operations/signals.ts';
import { RequestReport } from '#contracts/resources/workspace/report.ts';
import { ItemKey, ItemTypeName, SubjectTypeName } from '#contracts/values/items.ts';
import { NOTE_BODY_MAX_LENGTH } from '#contracts/resources/workspace/note.ts';
import {
  ENVELOPE_BYTES,
  NOT_SEEN,
  NO_MONEY,
  RESULT_MAX_BYTES,
  fitLists,
  structuredResult,
  timesOf,
  toCard,
} from '../output/result.ts';
import { type Json, type JsonObject, OBSERVED_IN_FETCH_MAX, separate } from '../output/observed.ts';
import { type EndpointInput, type ToolContext, tool } from './define-tool.ts';
import { listAnswer, readSections } from './list-answer.ts';
import {
  Brand,
  brandIdOf,
  isUuid,
  listInput,
  momentIn,
  PAST_INPUT,
  pastInput,
  slugCost,
  timeInput,
} from './parameters.ts';

const INCLUDE_MAX = 3;

const PARTS = {
  me: { endpoint: getMe, isOwn: true },
  tracked_brands: { endpoint: listTrackedBrands, isOwn: false },
  freshness: { endpoint: listTrackedBrandsFreshness, isOwn: false },
  alerts: { endpoint: listAlerts, isOwn: true },
  deliveries: { endpoint: listAlertDeliveries, isOwn: false },
  reports: { endpoint: listReports, isOwn: true },
  collections: { endpoint: listCollections, isOwn: true },
  saved: { endpoint: listSavedItems, isOwn: true },
  notes: { endpoint: listNotes, isOwn: true },
  coverage: { endpoint: getSystemFreshness, isOwn: true },
} as const satisfies Readonly<Record<string, { endpoint: Endpoint; isOwn: boolean }>>;
type PartName = keyof typeof PARTS;

const isList = ({ reply }: Endpoint): boolean => reply.shape === 'paged' || reply.shape === 'whole';

const withCards = (sections: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(sections).map(([name, section]): [string, Json] => {
      const { items, ...others } = section as JsonObject;
      return [
        name,
        items === undefined ? section : { ...others, items: (items as readonly Json[]).map(toCard) },
      ];
    }),
  );

/** Apps call with a connection, not with an API key. */
const withConnectionId = (sections: JsonObject): JsonObject => {
  const { me, ...others } = sections;
  if (me === undefined) return sections;
  const { key_id: connection_id, ...shown } = me as JsonObject;
  return { me: connection_id === undefined ? me : { ...shown, connection_id }, ...others };
};

export const getWorkspace = tool({
  name: 'get_workspace',
  title: 'Get the workspace',
  description:
    'Returns up to three parts of the workspace: who is signed in, tracked brands and their freshness, alerts, deliveries, reports, collections, saved items, notes, coverage of the corpus. One list alone continues with `cursor`.',
  input: z.strictObject({
    include: z
      .array(z.enum(Object.keys(PARTS) as [PartName, ...PartName[]]))
      .min(1)
      .max(INCLUDE_MAX)
      .default(['me', 'tracked_brands']),
    ...pastInput('`tracked_brands` alone'),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ include }): readonly Scope[] => [...new Set(include.map((name) => PARTS[name].endpoint.scope))],
  cost: ({ include }) => new Set(include).size,
  run: async ({ include, as_of, observed_as_of, limit, cursor }, context) => {
    const names = [...new Set(include)];
    const [first] = names;
    const past = { as_of, observed_as_of };
    if (momentIn(past) !== undefined && names.some((name) => name !== 'tracked_brands')) {
      throw new Refusal('invalid_input', `${PAST_INPUT} go with \`tracked_brands\` alone in \`include\`.`);
    }
    if (names.length === 1 && first !== undefined && isList(PARTS[first].endpoint)) {
      const { endpoint, isOwn } = PARTS[first];
      return listAnswer(endpoint, { limit, cursor, query: past, isOwn }, context);
    }
    if (cursor !== undefined) {
      throw new Refusal('invalid_input', '`cursor` goes with a single list in `include`.');
    }
    const wanted = names.map((name) => {
      const { endpoint, isOwn } = PARTS[name];
      return { name, endpoint, isOwn, input: { query: endpoint.reply.shape === 'paged' ? { limit } : {} } };
    });
    const read = await readSections(wanted, context);
    const { value, notes } = fitLists(
      withCards(withConnectionId(read.sections)),
      RESULT_MAX_BYTES - ENVELOPE_BYTES,
    );
    return structuredResult({
      sections: value,
      ...timesOf(read.asOfs, context.now),
      notes: [`Lists show their first ${limit} items; ask for one alone to continue it.`, ...notes],
    });
  },
});

export const listBriefs = tool({
  name: 'list_briefs',
  title: 'List weekly briefs',
  description:
    'Lists weekly briefs about tracked brands, newest first. `fetch` with `brief:<id>` returns one.',
  input: z.strictObject(listInput),
  output: 'structured',
  kind: 'reader',
  scopes: () => ['briefs:read'],
  cost: () => 1,
  run: ({ limit, cursor }, context) =>
    listAnswer(listBriefsEndpoint, { limit, cursor, notes: [NOT_SEEN] }, context),
});

const DAYS_MAX = 90;
const DAYS_DEFAULT = 7;
const NOTES = ['Only tracked brands are watched; a change states no cause.', NOT_SEEN, NO_MONEY];
const DIFFERENCES_NOTES = [
  'A difference is between what was known at `since` and at `until`; it states no cause.',
  'Brands come first, then days, then ads. The list is complete only when `next_cursor` is absent; a page before may be empty.',
  NOT_SEEN,
  NO_MONEY,
];

/** Views that take a parameter. */
const VIEWS_OF = {
  kinds: ['signals', 'items'],
  date: ['items'],
  as_of: ['items'],
  observed_as_of: ['items'],
  brand: ['items', 'differences'],
  since: ['differences'],
  until: ['differences'],
} as const;

const checkView = (view: string, args: Readonly<Partial<Record<keyof typeof VIEWS_OF, unknown>>>): void => {
  for (const [name, views] of Object.entries(VIEWS_OF)) {
    if (args[name as keyof typeof VIEWS_OF] === undefined || views.some((one) => one === view)) continue;
    const named = views.map((one) => `\`${one}\``).join(' or ');
    throw new Refusal('invalid_input', `\`${name}\` goes with the view ${named}.`);
  }
  if (view === 'differences' && args.since === undefined) {
    throw new Refusal('invalid_input', 'The view `differences` needs `since`.');
  }
};

export const listChanges = tool({
  name: 'list_changes',
  title: 'List changes',
  description:
    'Lists what changed at tracked brands: `signals` sum changes up, `items` are single ads that started, stopped or lead elsewhere. `differences` compares what was known at two moments, field by field with the events, of tracked brands or of any `brand`.',
  input: z.strictObject({
    view: z.enum(['signals', 'items', 'differences']).default('signals'),
    days: z
      .int()
      .min(1)
      .max(DAYS_MAX)
      .default(DAYS_DEFAULT)
      .meta({ description: 'For `signals` and `items`.' }),
    date: CalendarDate.optional().meta({ description: 'Only this day, for `items`.' }),
    brand: Brand.optional().meta({ description: 'For `items` and `differences`.' }),
    kinds: z
      .array(z.enum([...SignalKind.options, ...RadarItemType.options]))
      .min(1)
      .optional()
      .meta({
        description: 'Of items: ad_started, ad_stopped, destination_changed. Of signals: the others.',
      }),
    ...pastInput('`items`'),
    since: timeInput('The earlier moment, required for `differences`.'),
    until: timeInput('The later moment, for `differences`; now when absent.'),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ view, brand }): readonly Scope[] => {
    if (view === 'differences') return ['ads:read'];
    return brand === undefined || isUuid(brand) ? ['tracking:read'] : ['tracking:read', 'brands:read'];
  },
  cost: ({ view, brand }) => 1 + (view === 'differences' ? 0 : slugCost(brand)),
  run: async (args, context) => {
    const { view, days, date, brand, kinds, as_of, observed_as_of, since, until, limit, cursor } = args;
    checkView(view, args);
    if (view === 'differences') {
      const request = { limit, cursor, query: { since, until }, notes: DIFFERENCES_NOTES };
      return brand === undefined
        ? listAnswer(listWorkspaceChanges, request, context)
        : listAnswer(listBrandChanges, { ...request, params: { brandId: brand } }, context);
    }
    // Sent as text, which the endpoint splits, so that the order of kinds does not change the cursor.
    const names = kinds?.join(',');
    if (view === 'signals') {
      return listAnswer(listSignals, { limit, cursor, query: { days, kinds: names }, notes: NOTES }, context);
    }
    const brandId = brand === undefined ? undefined : await brandIdOf(context, brand);
    const query = { days, types: names, date, brand_id: brandId, as_of, observed_as_of };
    return listAnswer(listRadar, { limit, cursor, query, notes: NOTES }, context);
  },
});

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
