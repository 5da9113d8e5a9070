import { z } from 'zod';
import { described, Uuid } from '#contracts/values/primitives.ts';
import {
  AnalysisDepthName,
  CLOSED_FIELDS,
  CreativeCoverage,
  CreativeRecord,
  CreativeRecordSummary,
} from '#contracts/resources/corpus/ads/creative-record.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import {
  RANGED_FIELDS,
  type Range,
  findRecord,
  findRecordKeys,
  readCoverage,
  searchRecords,
} from '#projections/creatives/read-records.ts';
import { CREATIVE_FIELD_NAMES, CREATIVE_KEY_PREFIX_MIN_LENGTH } from '#contracts/values/media/creatives.ts';
import { Refusal } from '#contracts/errors.ts';
import { MediaKindName } from '#contracts/resources/corpus/ads/creative.ts';
import { CREATIVE_ID, CREATIVE_KEY, media, readAsOfFiles } from './creatives.ts';
import { AD_ID, BASE_URL, BRAND_ID, brandReference } from './endpoint/examples.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { noParams, noQuery, pageQuery, searchText, wholeNumber } from './endpoint/parameters.ts';
import { BRAND_UNKNOWN } from './brands/find-brand.ts';
import { latestIn, pageAsOf } from './endpoint/reply.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { corpusRead } from './endpoint/kinds.ts';

export const creativeRecordSummary = {
  ...media,
  depth: 'described',
  fields: {
    hook: 'problem',
    style: 'creator',
    presenter: 'customer',
    setting: 'outdoors',
    tone: 'informative',
    offer: 'none',
    audio: 'speech_and_music',
  },
  transcript_excerpt: 'My feet were always wet. Then I found the cove boot.',
  active_ads: 7,
  total_ads: 12,
  stored_at: '2026-11-02T06:20:00.000Z',
  as_of: '2026-11-03T09:12:00.000Z',
  url: `${BASE_URL}/v1/creative-records/${CREATIVE_KEY}`,
};

const creativeCoverage = {
  brand: brandReference,
  measured_files: 48,
  images: 20,
  videos: 28,
  transcribed_files: 21,
  described_files: 12,
  fields: [
    {
      field: 'hook',
      values: [
        { value: 'problem', files: 7 },
        { value: 'offer', files: 4 },
      ],
      not_read: 1,
    },
  ],
};

export const getCreativeCoverage = endpoint({
  method: 'GET',
  path: '/v1/creative-coverage',
  operationId: 'getCreativeCoverage',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'Read how many creatives were analysed',
  description:
    "Counts of a brand's creative files that were measured, transcribed and described, with the values of each closed field over described files. Without `brand_id`: the files of all public brands, each file once.",
  params: noParams,
  query: z.strictObject({ brand_id: Uuid.optional().meta({ description: 'Uuid of a brand.' }) }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'record', data: CreativeCoverage, example: creativeCoverage },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'creatives'],
  handler: async ({ query }, { db }) => {
    const { brand_id: brandId } = query;
    const texts = brandId && (await readBrandSummaries(db, [brandId])).get(brandId.toLowerCase());
    if (brandId !== undefined && !texts) throw BRAND_UNKNOWN;
    const [empty, { json, as_of }] = await Promise.all([
      readAsOfFiles(db, brandId),
      readCoverage(db, brandId ?? null, texts ? texts.reference : 'null'),
    ]);
    return { data: json, asOf: as_of ?? empty };
  },
});

const KEY_LENGTH = 64;
const RECORD_UNKNOWN = new Refusal('not_found', 'No creative record has a key with this prefix.');
const PREFIX_AMBIGUOUS = new Refusal(
  'ambiguous_prefix',
  'Several creative records have keys with this prefix. Send more characters of the key.',
);

const creativeRecord = {
  ...creativeRecordSummary,
  brands: [{ brand: brandReference, active_ads: 7, total_ads: 12 }],
  ads: [
    {
      id: AD_ID,
      brand_id: BRAND_ID,
      active: true,
      creative_id: CREATIVE_ID,
      url: `${BASE_URL}/v1/ads/${AD_ID}`,
    },
  ],
  frame_times_seconds: [0, 3.5, 7, 10.5, 14, 17.5, 21],
  read_frame_times_seconds: [0, 7, 14, 21],
  transcript: {
    text: 'My feet were always wet. Then I found the cave boot.',
    language: 'en',
    corrections: [{ heard: 'cave boot', meant: 'Cove boot' }],
  },
  shown_texts: ['Wet feet?', 'Cove boot'],
};

export const getCreativeRecord = endpoint({
  method: 'GET',
  path: '/v1/creative-records/{creativeKey}',
  operationId: 'getCreativeRecord',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'Read one creative record',
  description:
    'One creative file by its key, or by a prefix of at least ten characters: media facts with frame times, transcript with corrections, classification, and the brands and ads that carry it. A prefix of several keys is a conflict.',
  params: z.strictObject({
    creativeKey: z
      .string()
      .min(CREATIVE_KEY_PREFIX_MIN_LENGTH)
      .max(KEY_LENGTH)
      .regex(/^[0-9a-fA-F]*$/, 'hexadecimal digits')
      .toLowerCase()
      .meta({ description: 'SHA-256 of the file in hex, or its first ten characters or more.' }),
  }),
  query: noQuery,
  body: null,
  paramsExample: { creativeKey: CREATIVE_KEY },
  reply: { status: 200, shape: 'record', data: CreativeRecord, example: creativeRecord },
  errors: ['not_found', 'conflict'],
  corpus: true,
  reads: ['creatives'],
  handler: async ({ params }, { db }) => {
    const [creativeKey, another] = await findRecordKeys(db, params.creativeKey);
    if (another !== undefined) throw PREFIX_AMBIGUOUS;
    const found = creativeKey === undefined ? null : await findRecord(db, creativeKey);
    if (!found) throw RECORD_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});

const WORDS_MAX_LENGTH = 200;
/** Larger than any value of a file, and within the range of every column. */
const WHOLE_MAX = 10_000_000_000;
const PIXELS_MAX = 1_000_000;
const SECONDS_MAX = 86_400;
const DECIMAL = /^[0-9]{1,5}(\.[0-9]{1,3})?$/;

const decimal = (schema: z.ZodNumber) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' && DECIMAL.test(text) ? Number(text) : text),
    schema.optional(),
  );
const whole = (max: number, description: string) =>
  wholeNumber(z.int().min(0).max(max).optional().meta({ description }));
const seconds = (description: string) => decimal(z.number().min(0).max(SECONDS_MAX).meta({ description }));
const field = <Field extends z.ZodType>(schema: Field) => schema.optional().meta(described(schema));

const RANGES = ['duration_seconds', 'bytes', 'width', 'height', 'active_ads'] as const;

export const recordQuery = z
  .strictObject({
    ...pageQuery,
    brand_id: Uuid.optional().meta({ description: "Files that the brand's attributed ads carry." }),
    depth: AnalysisDepthName.optional().meta({ description: 'Exact analysis depth.' }),
    media_kind: MediaKindName.optional().meta({ description: 'Image or video.' }),
    hook: field(CLOSED_FIELDS.hook),
    style: field(CLOSED_FIELDS.style),
    presenter: field(CLOSED_FIELDS.presenter),
    setting: field(CLOSED_FIELDS.setting),
    tone: field(CLOSED_FIELDS.tone),
    offer: field(CLOSED_FIELDS.offer),
    audio: field(CLOSED_FIELDS.audio),
    said: searchText(WORDS_MAX_LENGTH)
      .optional()
      .meta({ description: 'Spoken words; all of them must occur.' }),
    shown: searchText(WORDS_MAX_LENGTH)
      .optional()
      .meta({ description: 'Words shown on screen; all of them must occur.' }),
    min_duration_seconds: seconds('Videos at least so long.'),
    max_duration_seconds: seconds('Videos at most so long.'),
    min_bytes: whole(WHOLE_MAX, 'Files at least so large.'),
    max_bytes: whole(WHOLE_MAX, 'Files at most so large.'),
    min_width: whole(PIXELS_MAX, 'At least so many pixels wide.'),
    max_width: whole(PIXELS_MAX, 'At most so many pixels wide.'),
    min_height: whole(PIXELS_MAX, 'At least so many pixels high.'),
    max_height: whole(PIXELS_MAX, 'At most so many pixels high.'),
    min_active_ads: whole(WHOLE_MAX, 'Carried by at least so many live ads.'),
    max_active_ads: whole(WHOLE_MAX, 'Carried by at most so many live ads.'),
  })
  .superRefine((query, context) => {
    for (const name of RANGES) {
      const [min, max] = [query[`min_${name}`], query[`max_${name}`]];
      if (min === undefined || max === undefined || min <= max) continue;
      context.addIssue({
        code: 'custom',
        path: [`max_${name}`],
        message: `must not be below \`min_${name}\``,
      });
    }
  });
export type RecordQuery = z.infer<typeof recordQuery>;

/** Facets in the form in which records are indexed. */
const facetsOf = (query: RecordQuery): readonly string[] =>
  (['media_kind', 'depth', ...CREATIVE_FIELD_NAMES] as const).flatMap((name) =>
    query[name] === undefined ? [] : [`${name}:${query[name]}`],
  );

const rangesOf = (query: RecordQuery) =>
  Object.fromEntries(
    RANGED_FIELDS.map((name): [string, Range] => [
      name,
      { min: query[`min_${name}`], max: query[`max_${name}`] },
    ]).filter(([, { min, max }]) => min !== undefined || max !== undefined),
  );

export const searchCreativeRecords = endpoint({
  ...corpusRead,
  path: '/v1/creative-records',
  operationId: 'searchCreativeRecords',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'Search creative records',
  description:
    'Creative files, one record each, by brand, analysis depth, media kind, values of closed fields, words said or shown on screen, and numbers; most live ads first. Counts are ads carrying a file, never spend.',
  query: recordQuery,
  reply: { status: 200, shape: 'paged', data: CreativeRecordSummary, example: [creativeRecordSummary] },
  heavy: true,
  reads: ['creatives', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { brand_id: brandId, said, shown } = query;
    const filter = {
      ...omitUndefined({ brandId, said, shown }),
      facets: facetsOf(query),
      ranges: rangesOf(query),
    };
    return pageAsOf(
      () => searchRecords(db, filter, page),
      (found) => latestIn(found.items, 'as_of'),
      () => readAsOfFiles(db, brandId),
    );
  },
});
