import { Refusal } from '#contracts/errors.ts';
import { Ad } from '#contracts/resources/corpus/ads/ad-record.ts';
import { listArchivedMedia } from '#projections/queries/ad-archived-media.ts';
import { findAd } from '#projections/ads/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { AD_ID, adSummary, brandReference } from '../endpoint/examples.ts';
import { adParams, noQuery } from '../endpoint/parameters.ts';
import { creative, media } from '../creatives/examples.ts';

const AD_UNKNOWN = new Refusal('not_found', 'Ad not found.');

const example = {
  ...adSummary,
  brand: brandReference,
  link_description: null,
  caption: 'harbor-and-pine.com',
  languages: ['en'],
  cards: [],
  versions: [],
  history: [{ at: '2026-11-02T06:00:00.000Z', change: 'started', detail: {} }],
  media: [{ kind: 'video', source_url: null, poster_url: null, archived_url: media.media_url }],
  archived_media: [creative],
};

export const getAd = endpoint({
  method: 'GET',
  path: '/v1/ads/{adId}',
  operationId: 'getAd',
  tag: 'Ads',
  scope: 'ads:read',
  summary: 'Read one ad',
  description:
    'One ad with its full copy, archived media, observation window and what was observed to change.',
  params: adParams,
  query: noQuery,
  body: null,
  paramsExample: { adId: AD_ID },
  reply: { status: 200, shape: 'record', data: Ad, example },
  errors: ['not_found'],
  corpus: true,
  reads: ['ads', 'creatives'],
  handler: async ({ params }, { db }) => {
    const found = await findAd(db, params.adId, listArchivedMedia(db, params.adId));
    if (!found) throw AD_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});
