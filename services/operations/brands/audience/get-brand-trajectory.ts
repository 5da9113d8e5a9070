import { TrajectoryPoint } from '#contracts/resources/corpus/traffic.ts';
import { readEstimatedSite, readTrajectory, TRAJECTORY_POINTS_MAX } from '#projections/traffic/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { withBrand } from '../find-brand-or-404.ts';

export const getBrandTrajectory = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/trajectory',
  operationId: 'getBrandTrajectory',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the traffic trajectory',
  description: `Visits and rankings of the brand's site as a traffic provider estimates them, oldest first; at most the newest ${TRAJECTORY_POINTS_MAX} points. Months never estimated are absent, not zero.`,
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: TrajectoryPoint,
    example: [
      { date: '2026-09-01', global_ranking: 93_870, category_ranking: 412, monthly_visits: 455_000 },
      { date: '2026-10-01', global_ranking: 91_204, category_ranking: 398, monthly_visits: 482_000 },
    ],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'traffic'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      Promise.all([readEstimatedSite(db, id), readTrajectory(db, id)]),
    );
    const [site, points] = found;
    return listReply(points, site.as_of ?? brand.profiled_at);
  },
});
