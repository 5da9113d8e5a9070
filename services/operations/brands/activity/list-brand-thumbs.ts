import { z } from 'zod';
import { BrandThumbs } from '#contracts/resources/corpus/ads/creative.ts';
import { readBrandThumbs, readNewestOfFiles } from '#projections/creatives/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { commaSeparatedUuids, noParams } from '#operations/endpoint/parameters.ts';
import { AD_ID, BRAND_ID } from '#operations/endpoint/examples.ts';
import { CREATIVE_ID, CREATIVE_KEY, media } from '#operations/creatives/examples.ts';

const BRANDS_MAX = 100;

const brandThumbs = {
  brand_id: BRAND_ID,
  thumbs: [
    {
      creative_id: CREATIVE_ID,
      creative_key: CREATIVE_KEY,
      ad_id: AD_ID,
      media_kind: 'video',
      image_url: media.poster_url,
      width: media.width,
      height: media.height,
      started_on: '2026-11-02',
    },
  ],
};

export const listBrandThumbs = endpoint({
  method: 'GET',
  path: '/v1/brand-thumbs',
  operationId: 'listBrandThumbs',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read thumbnails of brands',
  description:
    'For each requested brand, in the order of their ids, up to four newest live creatives with a stored image or poster. The reply has every requested brand; an empty list means that none is stored.',
  params: noParams,
  query: z.strictObject({
    brand_ids: commaSeparatedUuids(BRANDS_MAX).meta({
      description: 'Uuids of brands, separated by commas.',
    }),
  }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'whole', data: BrandThumbs, example: [brandThumbs] },
  errors: [],
  corpus: true,
  reads: ['creatives'],
  handler: async ({ query }, { db }) => {
    const [newest, { items, as_of }] = await Promise.all([
      readNewestOfFiles(db),
      readBrandThumbs(db, query.brand_ids),
    ]);
    return listReply(items, as_of ?? newest);
  },
});
