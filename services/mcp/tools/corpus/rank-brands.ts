import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { AUDIENCE_SEGMENTS } from '#contracts/values/audience-segments.ts';
import { Country } from '#contracts/values/primitives.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import { listAudience } from '#operations/audience.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { listNewAdvertisers, listRanking, listRisers } from '#operations/rankings.ts';
import { listToolBrands } from '#operations/tools.ts';
import { NO_MONEY, NOT_SEEN, TRAFFIC_ESTIMATED } from '../../output/notes.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { Category, categoryIdOf, isUuid, listInput, slugCost } from '../parameters.ts';

const DAYS_MAX = 90;
const TOOL_MAX_LENGTH = 200;

type Board = {
  readonly endpoint: Endpoint;
  readonly needs?: 'country' | 'tool' | 'segment';
  readonly notes: readonly string[];
};
const BOARDS = {
  traffic: { endpoint: listRanking, needs: 'country', notes: [TRAFFIC_ESTIMATED] },
  risers: { endpoint: listRisers, notes: [NOT_SEEN, NO_MONEY] },
  new_advertisers: { endpoint: listNewAdvertisers, notes: [NOT_SEEN, NO_MONEY] },
  tool: { endpoint: listToolBrands, needs: 'tool', notes: [TRAFFIC_ESTIMATED] },
  audience: { endpoint: listAudience, needs: 'segment', notes: [TRAFFIC_ESTIMATED] },
} as const satisfies Readonly<Record<string, Board>>;
type BoardName = keyof typeof BOARDS;

export const rankBrands = tool({
  name: 'rank_brands',
  title: 'Rank brands',
  description:
    'Compares brands on one board: estimated visits in a country, growth of active ads, first ads, use of a site tool, audience segment.',
  input: z.strictObject({
    board: z.enum(Object.keys(BOARDS) as [BoardName, ...BoardName[]]),
    country: Country.optional().meta({ description: 'Required for `traffic`; not for `audience`.' }),
    category: Category.optional().meta({ description: 'For `traffic`, `risers`, `new_advertisers`.' }),
    days: z.int().min(1).max(DAYS_MAX).optional().meta({ description: 'For `new_advertisers`.' }),
    tool: z.string().min(1).max(TOOL_MAX_LENGTH).optional().meta({ description: 'Slug, for `tool`.' }),
    segment: z
      .enum(Object.keys(AUDIENCE_SEGMENTS) as [string, ...string[]])
      .optional()
      .meta({ description: 'For `audience`.' }),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ board, category }): readonly Scope[] => [
    BOARDS[board].endpoint.scope,
    ...(category === undefined || isUuid(category) ? [] : ['categories:read' as const]),
  ],
  cost: ({ category }) => 1 + slugCost(category),
  run: async (args, context) => {
    const { board, country, category, days, tool: toolSlug, segment, limit, cursor } = args;
    const { endpoint, notes, needs }: Board = BOARDS[board];
    if (needs !== undefined && args[needs] === undefined) {
      throw new Refusal('invalid_input', `The board \`${board}\` needs \`${needs}\`.`);
    }
    const categoryId = category === undefined ? undefined : await categoryIdOf(context, category);
    const params = {
      ...(board === 'tool' ? { toolSlug } : {}),
      ...(board === 'audience' ? { segment } : {}),
    };
    const query = { country, category_id: categoryId, days };
    return listAnswer(endpoint, { limit, cursor, params, query, notes }, context);
  },
});
