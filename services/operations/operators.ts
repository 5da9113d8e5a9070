import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Operator, OperatorSummary } from '#contracts/resources/corpus/operator.ts';
import {
  findOperator,
  readNewestOperator,
  listOperators as readOperators,
} from '#projections/operators/read.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { noQuery, operatorParams, pageQuery } from './endpoint/parameters.ts';
import {
  OPERATOR_ID,
  adSummary,
  brandReference,
  operatorSummaryExample,
  otherBrandReference,
} from './endpoint/examples.ts';
import { latestIn, pageAsOf } from './endpoint/reply.ts';
import { corpusRead } from './endpoint/kinds.ts';

const OPERATOR_UNKNOWN = new Refusal('not_found', 'Operator not found.');

const operatorExample = {
  ...operatorSummaryExample,
  brands: [brandReference, otherBrandReference],
  domain_associations: [
    { domain: 'harbor-and-pine.com', bases: ['company_register', 'site_imprint'] },
    { domain: 'tide-wool.com', bases: ['site_imprint'] },
  ],
  page_associations: [{ page_id: adSummary.page.page_id, bases: ['page_transparency'] }],
};

export const getOperator = endpoint({
  method: 'GET',
  path: '/v1/operators/{operatorId}',
  operationId: 'getOperator',
  tag: 'Operators',
  scope: 'operators:read',
  summary: 'Read one operator',
  description:
    'One company with the public brands, domains and pages it was observed with, and the sources of each association.',
  params: operatorParams,
  query: noQuery,
  body: null,
  paramsExample: { operatorId: OPERATOR_ID },
  reply: { status: 200, shape: 'record', data: Operator, example: operatorExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['operators'],
  handler: async ({ params }, { db }) => {
    const found = await findOperator(db, params.operatorId);
    if (!found) throw OPERATOR_UNKNOWN;
    return { data: found.item, asOf: found.as_of };
  },
});

export const listOperators = endpoint({
  ...corpusRead,
  path: '/v1/operators',
  operationId: 'listOperators',
  tag: 'Operators',
  scope: 'operators:read',
  summary: 'List operators',
  description: 'Companies observed with several domains or pages, most domains and pages first.',
  query: z.strictObject(pageQuery),
  reply: { status: 200, shape: 'paged', data: OperatorSummary, example: [operatorSummaryExample] },
  reads: ['operators'],
  handler: async ({ page }, { db }) => {
    return pageAsOf(
      () => readOperators(db, page),
      (found) => latestIn(found.items, 'observed_at'),
      () => readNewestOperator(db),
    );
  },
});
