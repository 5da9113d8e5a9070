import { z } from 'zod';
import { CREATIVE_KEY_PREFIX_MIN_LENGTH } from '#contracts/values/media/creatives.ts';
import { Refusal } from '#contracts/errors.ts';
import { CreativeRecord } from '#contracts/resources/corpus/ads/creative-record.ts';
import { findRecord, findRecordKeys } from '#projections/creatives/read-records.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { CREATIVE_KEY, CREATIVE_ID } from '../creatives/examples.ts';
import { AD_ID, BASE_URL, BRAND_ID, brandReference } from '../endpoint/examples.ts';
import { creativeRecordSummary } from './examples.ts';

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
