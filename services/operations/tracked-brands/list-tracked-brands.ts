import { z } from 'zod';
import { TrackedBrandListItem } from '#contracts/resources/workspace/tracked-brand.ts';
import { readNewestObservation } from '#projections/brands/read.ts';
import { listTrackedBrands as readTrackedBrands } from '#projections/queries/tracked-brands.ts';
import { latestOf } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandSummary, freshnessExample, trackedBrand, WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';

export const listTrackedBrands = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/tracked-brands',
  operationId: 'listTrackedBrands',
  tag: 'Tracked brands',
  scope: 'brands:read',
  summary: 'List tracked brands',
  description: 'The brands the workspace tracks, newest first.',
  params: workspaceParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 200,
    shape: 'paged',
    data: TrackedBrandListItem,
    example: [
      {
        brand: brandSummary,
        cadence: 'daily',
        created_at: trackedBrand.created_at,
        freshness: freshnessExample,
      },
    ],
  },
  errors: ['not_found'],
  corpus: false,
  reads: ['tracking', 'brands', 'freshness'],
  handler: async ({ params, page }, { db }) =>
    pageAsOf(
      () => readTrackedBrands(db, params.ws, page),
      ({ asOf }) => latestOf(asOf),
      () => readNewestObservation(db),
    ),
});
