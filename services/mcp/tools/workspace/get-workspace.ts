import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import { getMe } from '#operations/account.ts';
import { listAlertDeliveries } from '#operations/alerts/deliveries.ts';
import { listAlerts } from '#operations/alerts/rules.ts';
import { listCollections } from '#operations/collections.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { listNotes } from '#operations/notes.ts';
import { listReports } from '#operations/reports.ts';
import { listSavedItems } from '#operations/saved.ts';
import { getSystemFreshness } from '#operations/system.ts';
import { listTrackedBrands, listTrackedBrandsFreshness } from '#operations/tracked-brands.ts';
import { toCard } from '../../output/cards.ts';
import { ENVELOPE_BYTES, fitLists, RESULT_MAX_BYTES } from '../../output/fit.ts';
import type { Json, JsonObject } from '../../output/observed.ts';
import { structuredResult, timesOf } from '../../output/result.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { listInput } from '../parameters.ts';
import { readSections } from '../sections.ts';

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
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ include }): readonly Scope[] => [...new Set(include.map((name) => PARTS[name].endpoint.scope))],
  cost: ({ include }) => new Set(include).size,
  run: async ({ include, limit, cursor }, context) => {
    const names = [...new Set(include)];
    const [first] = names;
    if (names.length === 1 && first !== undefined && isList(PARTS[first].endpoint)) {
      const { endpoint, isOwn } = PARTS[first];
      return listAnswer(endpoint, { limit, cursor, isOwn }, context);
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
