import { z } from 'zod';
import type { Scope } from '#contracts/values/access.ts';
import { getAd } from '#operations/ads.ts';
import { getBrand } from '#operations/brands/brands.ts';
import { getBrief } from '#operations/briefs.ts';
import { getCategory, getCategoryStats } from '#operations/categories.ts';
import { getCreativeRecord } from '#operations/creative-records.ts';
import { listAdCreatives } from '#operations/creatives.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { getOperator } from '#operations/operators.ts';
import { getPage } from '#operations/pages.ts';
import { getTool } from '#operations/tools.ts';
import { Refusal } from '#contracts/errors.ts';
import {
  NOT_SEEN,
  NO_MONEY,
  type PastInput,
  RESULT_MAX_BYTES,
  SHARED_PAGES,
  bytesOf,
  fitLists,
  textResult,
  timesOf,
} from '../output/result.ts';
import { type Json, type JsonObject, OBSERVED_IN_FETCH_MAX, separate } from '../output/observed.ts';
import { type ImagesAsked, type Pictures, creativesIn, imageIndexOf } from '../output/pictures.ts';
import { type ToolContext, tool } from './define-tool.ts';
import { categoryIdOf, imagesInput, isUuid, momentIn, PAST_INPUT, pastInput } from './parameters.ts';

export type FetchKind = {
  readonly endpoint: Endpoint;
  readonly parameter: string;
  /** A second endpoint with the same parameter, and its field. */
  readonly more?: { readonly field: string; readonly endpoint: Endpoint };
  /** True when the top-level names are the service's own. */
  readonly isOwn?: boolean;
  readonly hasImages?: boolean;
  /** Must not contain text of advertisers. */
  readonly title: (record: JsonObject, key: string) => string;
  readonly notes: readonly string[];
};

const KEY_SHOWN = 12;
const word = (value: unknown): string => (typeof value === 'string' ? value : '');

export const FETCH_KINDS: Readonly<Record<string, FetchKind>> = {
  brand: {
    endpoint: getBrand,
    parameter: 'brandId',
    title: ({ domain }) => `Brand ${word(domain)}`,
    notes: [NOT_SEEN, NO_MONEY],
  },
  ad: {
    endpoint: getAd,
    parameter: 'adId',
    more: { field: 'creatives', endpoint: listAdCreatives },
    hasImages: true,
    title: ({ format }, key) => `Ad ${key} (${word(format)})`,
    notes: [NOT_SEEN, NO_MONEY],
  },
  page: {
    endpoint: getPage,
    parameter: 'pageId',
    title: (_, key) => `Landing page ${key}`,
    notes: [NOT_SEEN],
  },
  creative: {
    endpoint: getCreativeRecord,
    parameter: 'creativeKey',
    hasImages: true,
    title: ({ media_kind: kind }, key) => `Creative ${key.slice(0, KEY_SHOWN)} (${word(kind)})`,
    notes: [NO_MONEY],
  },
  category: {
    endpoint: getCategory,
    parameter: 'categoryId',
    more: { field: 'stats', endpoint: getCategoryStats },
    isOwn: true,
    title: ({ name }) => `Category ${word(name)}`,
    notes: [NOT_SEEN],
  },
  operator: {
    endpoint: getOperator,
    parameter: 'operatorId',
    title: (_, key) => `Operator ${key}`,
    notes: [SHARED_PAGES],
  },
  tool: {
    endpoint: getTool,
    parameter: 'toolSlug',
    isOwn: true,
    title: ({ name }) => `Tool ${word(name)}`,
    notes: ['A tool that was not detected may still be used.'],
  },
  brief: {
    endpoint: getBrief,
    parameter: 'briefId',
    title: ({ week }) => `Weekly brief ${word(week)}`,
    notes: [NOT_SEEN, NO_MONEY],
  },
};

/** The second endpoint has no past, so an answer of a past moment is without it. */
export const endpointsOf = ({ endpoint, more }: FetchKind, past: PastInput = {}): readonly Endpoint[] =>
  more && momentIn(past) === undefined ? [endpoint, more.endpoint] : [endpoint];

export const scopesOfKind = (kind: FetchKind): readonly Scope[] => [
  ...new Set(endpointsOf(kind).map(({ scope }) => scope)),
];

const ID_MAX_LENGTH = 300;
/** Maximum lengths of observed texts; the first one that makes the result fit is used. */
const TEXT_LENGTHS = [OBSERVED_IN_FETCH_MAX, 1_000, 300] as const;
/** Initial size of a record; quoting as text makes it longer. */
const RECORD_BYTES = 26 * 1024;
const RECORD_BYTES_MIN = 4 * 1024;
const IMAGES_BYTES = 1_024;

const parseId = (id: string): { readonly kind: FetchKind; readonly key: string } | null => {
  const colon = id.indexOf(':');
  const name = id.slice(0, Math.max(0, colon));
  const kind = Object.hasOwn(FETCH_KINDS, name) ? FETCH_KINDS[name] : undefined;
  return kind ? { kind, key: id.slice(colon + 1) } : null;
};

const isCategorySlug = (id: string): boolean =>
  id.startsWith('category:') && !isUuid(id.slice('category:'.length));

type Fetched = { readonly kind: FetchKind; readonly result: JsonObject; readonly record: Json };

const fetchObject = async (id: string, context: ToolContext, past: PastInput = {}): Promise<Fetched> => {
  const parsed = parseId(id);
  if (!parsed) {
    const kinds = Object.keys(FETCH_KINDS).map((kind) => `\`${kind}:\``);
    throw new Refusal('invalid_input', `The id must begin with one of ${kinds.join(', ')}.`);
  }
  const { kind } = parsed;
  if (momentIn(past) !== undefined && kind.endpoint.past === undefined) {
    const message = `${PAST_INPUT} go with ids that begin with \`brand:\` or \`ad:\`. Fetch this one without them.`;
    throw new Refusal('invalid_input', message);
  }
  const key = isCategorySlug(id) ? await categoryIdOf(context, parsed.key) : parsed.key;
  const params = { [kind.parameter]: key };
  const [main, more] = await Promise.all(
    endpointsOf(kind, past).map((endpoint) => context.call(endpoint, { params, query: past })),
  );
  if (!main) throw new Error('a kind has an endpoint');

  const resultWith = (maxLength: number, maxBytes: number): Fetched | null => {
    const options = { maxLength, baseUrl: context.baseUrl };
    const record = separate(main.data, { ...options, isOwn: kind.isOwn ?? false }) as JsonObject;
    const added = kind.more && more ? { [kind.more.field]: separate(more.data, options) } : {};
    const { value, notes } = fitLists({ ...record, ...added } satisfies JsonObject, maxBytes);
    if (value === null) return null;
    const { library_url: library, url } = record;
    const result: JsonObject = {
      id,
      title: kind.title(record, key),
      text: JSON.stringify(value),
      url: library ?? url ?? `adintel://${id.replace(':', 's/')}`,
      metadata: {
        ...timesOf([main.asOf, ...(more ? [more.asOf] : [])], context.now),
        notes: [...main.notes, ...kind.notes, ...notes],
      },
    };
    return bytesOf(result) <= RESULT_MAX_BYTES - IMAGES_BYTES ? { kind, result, record: value } : null;
  };
  for (const maxLength of TEXT_LENGTHS) {
    for (let bytes = RECORD_BYTES; bytes >= RECORD_BYTES_MIN; bytes /= 2) {
      const result = resultWith(maxLength, bytes);
      if (result) return result;
    }
  }
  throw new Refusal(
    'invalid_input',
    'This object is too large for one answer. Read its parts by other tools.',
  );
};

const withPictures = (result: JsonObject, pictures: Pictures): JsonObject => {
  const { notes, ...metadata } = result['metadata'] as JsonObject;
  return {
    ...result,
    metadata: {
      ...metadata,
      ...imageIndexOf(pictures),
      notes: [...(notes as readonly string[]), ...pictures.notes],
    },
  };
};

export const fetchTool = tool({
  name: 'fetch',
  title: 'Fetch one object',
  description:
    'Returns one object in full by the id that `search` returns, or `brand:`, `ad:`, `page:`, `creative:`, `category:`, `operator:`, `tool:` or `brief:` with its key.',
  input: z.strictObject({
    id: z
      .string()
      .min(1)
      .max(ID_MAX_LENGTH)
      .meta({ description: 'For example `brand:allbirds` or `ad:123`.' }),
    ...pastInput('`brand:` and `ad:`'),
    ...imagesInput(1),
  }),
  output: 'text',
  kind: 'reader',
  scopes: ({ id }) => {
    const parsed = parseId(id);
    return [...(parsed ? scopesOfKind(parsed.kind) : [])];
  },
  cost: ({ id, ...past }) => {
    const parsed = parseId(id);
    return parsed ? endpointsOf(parsed.kind, past).length + (isCategorySlug(id) ? 1 : 0) : 1;
  },
  run: async ({ id, images, image_type, ...past }, context) => {
    const fetched = await fetchObject(id, context, past);
    const asked: ImagesAsked = { count: fetched.kind.hasImages === true ? images : 0, type: image_type };
    const pictures = await context.pictures(creativesIn(fetched.record, context.baseUrl), asked);
    return textResult(withPictures(fetched.result, pictures), pictures.blocks);
  },
});

export const fetchedJson = async (id: string, context: ToolContext): Promise<Json> =>
  (await fetchObject(id, context)).result;
