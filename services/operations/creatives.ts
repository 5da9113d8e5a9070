import { z } from 'zod';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import {
  findCreatives,
  findCreativesOfAd,
  listCreatives as readCreatives,
  readNewestOfBrandFiles,
  readNewestOfFiles,
} from '#projections/creatives/read.ts';
import { readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { Refusal } from '#contracts/errors.ts';
import { LibraryId, Uuid } from '#contracts/values/primitives.ts';
import { Creative } from '#contracts/resources/corpus/ads/creative.ts';
import { latestIn, listReply, pageAsOf, readAsOfEmptyList } from './endpoint/reply.ts';
import { AD_ID, BASE_URL, BRAND_ID } from './endpoint/examples.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { adParams, noQuery, pageQuery } from './endpoint/parameters.ts';
import { corpusRead } from './endpoint/kinds.ts';

/** Time of a reply without files. */
export const readAsOfFiles = (db: ReadDatabase, brandId: string | undefined): Promise<string | null> =>
  readAsOfEmptyList(
    db,
    brandId,
    async (id) => (await readNewestOfBrandFiles(db, id)) ?? (await readScannedAt(db, 'creatives', id)),
    () => readNewestOfFiles(db),
  );

export const CREATIVE_ID = '8c1e5a70-3f2b-5d84-9b6a-2e7d0c4f1a95';
export const CREATIVE_KEY = '3f9a1c7e5b2d84f6a0c9e3b71d5f2a8846c0e9d7b3a15f6c2e8d4b7091a3c5ef';

export const media = {
  creative_key: CREATIVE_KEY,
  media_kind: 'video',
  content_type: 'video/mp4',
  bytes: 4_182_016,
  width: 1_080,
  height: 1_920,
  duration_seconds: 21.4,
  media_url: `https://media.example.com/${CREATIVE_KEY}.mp4`,
  poster_url: `https://media.example.com/${CREATIVE_KEY}.jpg`,
};

export const creative = {
  id: CREATIVE_ID,
  ad_id: AD_ID,
  brand_id: BRAND_ID,
  ...media,
  ad_active: true,
  first_seen_at: '2026-11-02T06:00:00.000Z',
  as_of: '2026-11-03T09:12:00.000Z',
  url: `${BASE_URL}/v1/creatives/${CREATIVE_ID}`,
  record_url: `${BASE_URL}/v1/creative-records/${CREATIVE_KEY}`,
};

const CREATIVE_UNKNOWN = new Refusal('not_found', 'Creative not found.');

export const getCreative = endpoint({
  method: 'GET',
  path: '/v1/creatives/{creativeId}',
  operationId: 'getCreative',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'Read one archived creative',
  description:
    'One creative asset: a file in one ad. Records also name assets whose file is not stored; their `media_url` is null.',
  params: z.strictObject({ creativeId: Uuid.meta({ description: 'Id of a creative asset.' }) }),
  query: noQuery,
  body: null,
  paramsExample: { creativeId: CREATIVE_ID },
  reply: { status: 200, shape: 'record', data: Creative, example: creative },
  errors: ['not_found'],
  corpus: true,
  reads: ['creatives'],
  handler: async ({ params }, { db }) => {
    const [found] = await findCreatives(db, [params.creativeId]);
    if (!found) throw CREATIVE_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});

const AD_UNKNOWN = new Refusal('not_found', 'Ad not found.');

export const listAdCreatives = endpoint({
  method: 'GET',
  path: '/v1/ads/{adId}/creatives',
  operationId: 'listAdCreatives',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: "List an ad's archived creatives",
  description: 'Every archived creative asset of one ad; an empty list means that none is stored.',
  params: adParams,
  query: noQuery,
  body: null,
  paramsExample: { adId: AD_ID },
  reply: { status: 200, shape: 'whole', data: Creative, example: [creative] },
  errors: ['not_found'],
  corpus: true,
  reads: ['creatives'],
  handler: async ({ params }, { db }) => {
    const [newest, items] = await Promise.all([readNewestOfFiles(db), findCreativesOfAd(db, params.adId)]);
    if (!items) throw AD_UNKNOWN;
    return listReply(items, latestIn(items, 'as_of') ?? newest);
  },
});

export const listCreatives = endpoint({
  ...corpusRead,
  path: '/v1/creatives',
  operationId: 'listCreatives',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'List archived creatives',
  description:
    "Archived creative assets of one ad, or of a brand's attributed ads, those of the newest ads first. Exactly one of `ad_id` and `brand_id` is required.",
  query: z
    .strictObject({
      ...pageQuery,
      ad_id: LibraryId.optional().meta({ description: 'Library id of an ad.' }),
      brand_id: Uuid.optional().meta({ description: 'Uuid of a brand.' }),
    })
    .refine(({ ad_id, brand_id }) => (ad_id === undefined) !== (brand_id === undefined), {
      path: ['ad_id'],
      message: 'Send exactly one of `ad_id` and `brand_id`.',
    }),
  reply: { status: 200, shape: 'paged', data: Creative, example: [creative] },
  reads: ['creatives', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { ad_id: adId, brand_id: brandId = '' } = query;
    return pageAsOf(
      () => readCreatives(db, adId === undefined ? { brandId } : { adId }, page),
      (found) => latestIn(found.items, 'as_of'),
      () => readAsOfFiles(db, adId === undefined ? brandId : undefined),
    );
  },
});
