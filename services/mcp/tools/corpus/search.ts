import { z } from 'zod';
import { searchAds } from '#operations/ads.ts';
import { listBrands } from '#operations/brands/brands.ts';
import { bytesOf, RESULT_MAX_BYTES } from '../../output/fit.ts';
import { NO_MONEY, NOT_SEEN } from '../../output/notes.ts';
import type { Json, JsonObject } from '../../output/observed.ts';
import { textResult, timesOf } from '../../output/result.ts';
import { tool } from '../define-tool.ts';
import { readCards } from '../list-answer.ts';
import { textField } from '../parameters.ts';

const QUERY_MAX_LENGTH = 200;
const NAME_MAX_LENGTH = 100;
const RESULTS_EACH = 5;

const toResult =
  (kind: 'brand' | 'ad', key: string, title: string, url: string) =>
  (card: Json): JsonObject => {
    const record = card as JsonObject;
    return {
      id: `${kind}:${textField(record, key)}`,
      title: `${title} ${textField(record, kind === 'brand' ? 'domain' : 'id')}`,
      url: record[url] ?? null,
      text: JSON.stringify(record),
    };
  };

export const search = tool({
  name: 'search',
  title: 'Search',
  description:
    'Finds brands by name and recent ads by words of their copy. `fetch` returns a result in full.',
  input: z.strictObject({ query: z.string().min(1).max(QUERY_MAX_LENGTH) }),
  output: 'text',
  kind: 'reader',
  scopes: () => ['brands:read', 'ads:read'],
  cost: () => 2,
  run: async ({ query }, context) => {
    const name = Array.from(query).slice(0, NAME_MAX_LENGTH).join('').slice(0, NAME_MAX_LENGTH);
    const [brands, ads] = await Promise.all([
      readCards(listBrands, { limit: RESULTS_EACH, query: { q: name.toWellFormed() } }, context),
      readCards(searchAds, { limit: RESULTS_EACH, query: { q: query } }, context),
    ]);
    const results = [
      ...brands.items.map(toResult('brand', 'slug', 'Brand', 'url')),
      ...ads.items.map(toResult('ad', 'id', 'Ad', 'library_url')),
    ];
    const answer = (): JsonObject => ({
      results,
      ...timesOf([brands.asOf, ads.asOf], context.now),
      notes: [NOT_SEEN, NO_MONEY],
    });
    while (bytesOf(answer()) > RESULT_MAX_BYTES) results.pop();
    return textResult(answer());
  },
});
