import { Refusal } from '#contracts/errors.ts';
import { Ad } from '#contracts/resources/ad.ts';
import { findAd } from '#projections/ads/read.ts';
import { endpoint } from '../../endpoint.ts';
import { AD_ID, adExample } from '../../examples.ts';
import { adParams, noQuery } from '../../parameters.ts';

const AD_UNKNOWN = new Refusal('not_found', 'There is no such ad in this service.');

export const getAd = endpoint({
  method: 'GET',
  path: '/v1/ads/{adId}',
  operationId: 'getAd',
  tag: 'Ads',
  scope: 'ads:read',
  summary: 'Read one ad',
  description: 'One ad with its full copy, media, observation window and what was observed to change.',
  params: adParams,
  query: noQuery,
  body: null,
  paramsExample: { adId: AD_ID },
  reply: { status: 200, shape: 'record', data: Ad, example: adExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['ads'],
  handler: async ({ params }, { db }) => {
    const found = await findAd(db, params.adId);
    if (!found) throw AD_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});
