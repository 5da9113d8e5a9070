import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { bytesOf, fitLists, RESULT_MAX_BYTES } from '../../output/fit.ts';
import { type Json, type JsonObject, OBSERVED_IN_FETCH_MAX, separate } from '../../output/observed.ts';
import { creativesIn, imageIndexOf, type ImagesAsked, type Pictures } from '../../output/pictures.ts';
import { textResult, timesOf } from '../../output/result.ts';
import { tool, type ToolContext } from '../define-tool.ts';
import { categoryIdOf, imagesInput, isUuid } from '../parameters.ts';
import { endpointsOf, FETCH_KINDS, type FetchKind, scopesOfKind } from './fetch-kinds.ts';

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

const fetchObject = async (id: string, context: ToolContext): Promise<Fetched> => {
  const parsed = parseId(id);
  if (!parsed) {
    const kinds = Object.keys(FETCH_KINDS).map((kind) => `\`${kind}:\``);
    throw new Refusal('invalid_input', `The id must begin with one of ${kinds.join(', ')}.`);
  }
  const { kind } = parsed;
  const key = isCategorySlug(id) ? await categoryIdOf(context, parsed.key) : parsed.key;
  const params = { [kind.parameter]: key };
  const [main, more] = await Promise.all(
    endpointsOf(kind).map((endpoint) => context.call(endpoint, { params })),
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
        notes: [...kind.notes, ...notes],
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
      .meta({ description: 'For example `brand:allbirds-com` or `ad:123`.' }),
    ...imagesInput(1),
  }),
  output: 'text',
  kind: 'reader',
  scopes: ({ id }) => {
    const parsed = parseId(id);
    return [...(parsed ? scopesOfKind(parsed.kind) : [])];
  },
  cost: ({ id }) => {
    const parsed = parseId(id);
    return parsed ? endpointsOf(parsed.kind).length + (isCategorySlug(id) ? 1 : 0) : 1;
  },
  run: async ({ id, images, image_type }, context) => {
    const fetched = await fetchObject(id, context);
    const asked: ImagesAsked = { count: fetched.kind.hasImages === true ? images : 0, type: image_type };
    const pictures = await context.pictures(creativesIn(fetched.record, context.baseUrl), asked);
    return textResult(withPictures(fetched.result, pictures), pictures.blocks);
  },
});

export const fetchedJson = async (id: string, context: ToolContext): Promise<Json> =>
  (await fetchObject(id, context)).result;
