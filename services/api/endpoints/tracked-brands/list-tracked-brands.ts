import { z } from 'zod';
import { TrackedBrandListItem } from '#contracts/resources/tracked-brand.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import { readFreshnessOf } from '#projections/freshness/read.ts';
import { listTrackedBrands as readTrackedBrands } from '#projections/tracking/read.ts';
import { listText } from '../../answers.ts';
import { endpoint } from '../../endpoint.ts';
import { brandSummary, freshnessExample, trackedBrand, WORKSPACE_ID } from '../../examples.ts';
import { pageQuery, workspaceParams } from '../../parameters.ts';
import { neverScanned } from '../brands/never-scanned.ts';

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
  handler: async ({ params, page }, { db }) => {
    const { rows, next } = await readTrackedBrands(db, params.ws, page);
    const ids = rows.map((row) => row.brand_id);
    const [summaries, freshness] = await Promise.all([readBrandSummaries(db, ids), readFreshnessOf(db, ids)]);
    const items = rows.flatMap((row) => {
      const brand = summaries.get(row.brand_id);
      const fresh = freshness.get(row.brand_id) ?? neverScanned(row.cadence);
      if (!brand) return [];
      const { cadence, tracked_at } = row;
      return [
        `{"brand":${brand.summary},"cadence":"${cadence}","created_at":"${tracked_at}","freshness":${JSON.stringify(fresh)}}`,
      ];
    });
    return { data: listText(items), asOf: null, count: items.length, next };
  },
});
