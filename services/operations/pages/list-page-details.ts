import { z } from 'zod';
import { LandingPage } from '#contracts/resources/corpus/landing-page.ts';
import { findPages } from '#projections/pages/read.ts';
import { readNewestScan } from '#projections/shared-tables/applied-scan.ts';
import { latestOf, listReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { commaSeparatedUuids, noParams } from '../endpoint/parameters.ts';
import { landingPage } from './examples.ts';

/** Specification, part "Limits": page details. */
const IDS_MAX = 100;

export const listPageDetails = endpoint({
  method: 'GET',
  path: '/v1/page-details',
  operationId: 'listPageDetails',
  tag: 'Pages',
  scope: 'pages:read',
  summary: 'Read several landing pages',
  description:
    'Up to 100 landing pages by id, in the order of their ids. Unknown ids, and ids of pages without a public brand, are left out.',
  params: noParams,
  query: z.strictObject({
    ids: commaSeparatedUuids(IDS_MAX).meta({
      description: 'Ids of landing pages, separated by commas.',
    }),
  }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'whole', data: LandingPage, example: [landingPage] },
  errors: [],
  corpus: true,
  reads: ['pages'],
  handler: async ({ query }, { db }) => {
    const [newest, found] = await Promise.all([readNewestScan(db, 'pages'), findPages(db, query.ids)]);
    return listReply(
      found.map(({ json }) => json),
      latestOf(found.map(({ as_of }) => as_of)) ?? newest,
    );
  },
});
