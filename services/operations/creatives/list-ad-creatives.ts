import { Refusal } from '#contracts/errors.ts';
import { Creative } from '#contracts/resources/corpus/ads/creative.ts';
import { findCreativesOfAd, readNewestOfFiles } from '#projections/creatives/read.ts';
import { latestIn, listReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { AD_ID } from '../endpoint/examples.ts';
import { adParams, noQuery } from '../endpoint/parameters.ts';
import { creative } from './examples.ts';

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
