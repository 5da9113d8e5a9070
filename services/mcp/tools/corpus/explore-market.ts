import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import { listCategories } from '#operations/categories.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { listHubs } from '#operations/hubs.ts';
import { listOperators } from '#operations/operators.ts';
import { getSplitTestCensus } from '#operations/split-test-census.ts';
import { listTools } from '#operations/tools.ts';
import { NOT_SEEN, SHARED_PAGES } from '../../output/notes.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { categoryIdOf, isUuid, listInput } from '../parameters.ts';

const PARENT_MAX_LENGTH = 100;

type Kind = { readonly endpoint: Endpoint; readonly isOwn: boolean; readonly notes: readonly string[] };
const KINDS = {
  categories: { endpoint: listCategories, isOwn: true, notes: [NOT_SEEN] },
  tools: { endpoint: listTools, isOwn: true, notes: ['A tool that was not detected may still be used.'] },
  operators: { endpoint: listOperators, isOwn: false, notes: [SHARED_PAGES] },
  hubs: { endpoint: listHubs, isOwn: false, notes: [SHARED_PAGES] },
  split_tests: {
    endpoint: getSplitTestCensus,
    isOwn: false,
    notes: ['Null means not read: the tests of this tool cannot be seen.'],
  },
} as const satisfies Readonly<Record<string, Kind>>;
type KindName = keyof typeof KINDS;

export const exploreMarket = tool({
  name: 'explore_market',
  title: 'Explore the market',
  description:
    'Lists categories, site tools, operators, pages that serve several brands (hubs), or the census of split testing.',
  input: z.strictObject({
    kind: z.enum(Object.keys(KINDS) as [KindName, ...KindName[]]),
    parent: z.string().min(1).max(PARENT_MAX_LENGTH).optional().meta({
      description:
        'Of categories: slug or uuid of the one above. Of tools: their category, such as `A/B testing`.',
    }),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ kind }): readonly Scope[] => [KINDS[kind].endpoint.scope],
  cost: ({ kind, parent }) => (kind === 'categories' && parent !== undefined && !isUuid(parent) ? 2 : 1),
  run: async ({ kind, parent, limit, cursor }, context) => {
    const { endpoint, isOwn, notes }: Kind = KINDS[kind];
    if (parent !== undefined && kind !== 'categories' && kind !== 'tools') {
      throw new Refusal('invalid_input', `\`parent\` goes with categories and tools, not with \`${kind}\`.`);
    }
    const query = {
      ...(kind === 'categories' && parent !== undefined
        ? { parent_id: await categoryIdOf(context, parent) }
        : {}),
      ...(kind === 'tools' ? { category: parent } : {}),
    };
    return listAnswer(endpoint, { limit, cursor, query, isOwn, notes }, context);
  },
});
