import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { Creative } from '#contracts/resources/corpus/ads/creative.ts';
import { findCreative } from '#projections/creatives/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { CREATIVE_ID, creative } from './examples.ts';

const CREATIVE_UNKNOWN = new Refusal('not_found', 'Archived creative not found.');

export const getCreative = endpoint({
  method: 'GET',
  path: '/v1/creatives/{creativeId}',
  operationId: 'getCreative',
  tag: 'Creatives',
  scope: 'creatives:read',
  summary: 'Read one archived creative',
  description: 'One archived creative asset: a stored file in one ad.',
  params: z.strictObject({ creativeId: Uuid.meta({ description: 'Id of an archived creative.' }) }),
  query: noQuery,
  body: null,
  paramsExample: { creativeId: CREATIVE_ID },
  reply: { status: 200, shape: 'record', data: Creative, example: creative },
  errors: ['not_found'],
  corpus: true,
  reads: ['creatives'],
  handler: async ({ params }, { db }) => {
    const found = await findCreative(db, params.creativeId);
    if (!found) throw CREATIVE_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});
