import { z } from 'zod';
import { OperatorSummary } from '#contracts/resources/corpus/operator.ts';
import { listOperators as readOperators, readNewestOperator } from '#projections/operators/read.ts';
import { latestIn } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noParams, pageQuery } from '../endpoint/parameters.ts';
import { operatorSummaryExample } from '../social-pages/examples.ts';

export const listOperators = endpoint({
  method: 'GET',
  path: '/v1/operators',
  operationId: 'listOperators',
  tag: 'Operators',
  scope: 'operators:read',
  summary: 'List operators',
  description: 'Companies observed with several domains or pages, most domains and pages first.',
  params: noParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'paged',
    data: OperatorSummary,
    example: [operatorSummaryExample],
  },
  errors: [],
  corpus: true,
  reads: ['operators'],
  handler: async ({ page }, { db }) => {
    return pageAsOf(
      () => readOperators(db, page),
      (found) => latestIn(found.items, 'observed_at'),
      () => readNewestOperator(db),
    );
  },
});
