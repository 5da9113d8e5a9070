import { z } from 'zod';
import { LibraryId, Uuid } from '#contracts/values/primitives.ts';
import { Creative } from '#contracts/resources/corpus/ads/creative.ts';
import { listCreatives as readCreatives } from '#projections/creatives/read.ts';
import { latestIn } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noParams, pageQuery } from '../endpoint/parameters.ts';
import { readAsOfFiles } from './as-of-files.ts';
import { creative } from './examples.ts';

export const listCreatives = endpoint({
  method: 'GET',
  path: '/v1/creatives',
  operationId: 'listCreatives',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'List archived creatives',
  description:
    "Archived creative assets of one ad, or of a brand's attributed ads, those of the newest ads first. Exactly one of `ad_id` and `brand_id` is required.",
  params: noParams,
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
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'paged', data: Creative, example: [creative] },
  errors: [],
  corpus: true,
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
