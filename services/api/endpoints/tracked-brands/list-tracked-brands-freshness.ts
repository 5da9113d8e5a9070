import { SLO_HOURS, TrackedBrandFreshness } from '#contracts/resources/tracked-brand.ts';
import { readBrandReferences } from '#projections/brands/read.ts';
import { readFreshnessOf } from '#projections/freshness/read.ts';
import { readTrackedBrands, type TrackedBrandRow } from '#projections/tracking/read.ts';
import { listAnswer } from '../../answers.ts';
import { endpoint } from '../../endpoint.ts';
import { brandReference, freshnessExample, WORKSPACE_ID } from '../../examples.ts';
import { noQuery, workspaceParams } from '../../parameters.ts';
import { neverScanned } from '../brands/never-scanned.ts';

const HOUR_MS = 3_600_000;

/** Counted from the last reliable scan, or from tracking where there was none (DESIGN §9). */
const sloOf = (row: TrackedBrandRow, lastReliableAt: string | null, now: number) => {
  const slo_hours = SLO_HOURS[row.cadence];
  const sinceMs = now - Date.parse(lastReliableAt ?? row.tracked_at);
  const hours_since_reliable = Math.max(0, Math.floor(sinceMs / HOUR_MS));
  const slo_status = hours_since_reliable > slo_hours ? ('breached' as const) : ('ok' as const);
  return { slo_hours, hours_since_reliable, slo_status };
};

export const listTrackedBrandsFreshness = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/tracked-brands/freshness',
  operationId: 'listTrackedBrandsFreshness',
  tag: 'Tracked brands',
  scope: 'brands:read',
  summary: 'List the freshness of tracked brands',
  description:
    'How long ago each tracked brand was reliably scanned against the hours its cadence promises, most overdue first.',
  params: workspaceParams,
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: TrackedBrandFreshness,
    example: [
      {
        brand: brandReference,
        cadence: 'daily',
        freshness: freshnessExample,
        slo_hours: 36,
        hours_since_reliable: 4,
        slo_status: 'ok',
      },
    ],
  },
  errors: ['not_found'],
  corpus: false,
  reads: ['tracking', 'brands', 'freshness'],
  handler: async ({ params }, { db, clock }) => {
    const now = clock.now().getTime();
    const rows = await readTrackedBrands(db, params.ws);
    const ids = rows.map((row) => row.brand_id);
    const [references, freshness] = await Promise.all([
      readBrandReferences(db, ids),
      readFreshnessOf(db, ids),
    ]);
    const items = rows.flatMap((row) => {
      const brand = references.get(row.brand_id);
      const fresh = freshness.get(row.brand_id) ?? neverScanned(row.cadence);
      if (brand === undefined) return [];
      const slo = sloOf(row, fresh.last_reliable_at, now);
      const text = `{"brand":${brand},"cadence":"${row.cadence}","freshness":${JSON.stringify(fresh)},${JSON.stringify(slo).slice(1)}`;
      return [{ text, overdue: slo.hours_since_reliable - slo.slo_hours, brandId: row.brand_id }];
    });
    items.sort((one, other) => other.overdue - one.overdue || (one.brandId < other.brandId ? -1 : 1));
    return listAnswer(
      items.map((item) => item.text),
      null,
    );
  },
});
