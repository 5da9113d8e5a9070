import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { LandingPage } from '#contracts/resources/corpus/landing-page.ts';
import { findPages } from '#projections/pages/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { landingPage, PAGE_ID } from './examples.ts';

const PAGE_UNKNOWN = new Refusal('not_found', 'Landing page not found among those of public brands.');

export const getPage = endpoint({
  method: 'GET',
  path: '/v1/pages/{pageId}',
  operationId: 'getPage',
  tag: 'Pages',
  scope: 'pages:read',
  summary: 'Read one landing page',
  description:
    'One landing page with its scraped and classified fields, and the brands whose ads lead to it.',
  params: z.strictObject({ pageId: Uuid.meta({ description: 'Id of a landing page.' }) }),
  query: noQuery,
  body: null,
  paramsExample: { pageId: PAGE_ID },
  reply: { status: 200, shape: 'record', data: LandingPage, example: landingPage },
  errors: ['not_found'],
  corpus: true,
  reads: ['pages'],
  handler: async ({ params }, { db }) => {
    const [found] = await findPages(db, [params.pageId]);
    if (!found) throw PAGE_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});
