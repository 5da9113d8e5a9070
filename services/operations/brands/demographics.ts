import { Demographics, TrajectoryPoint } from '#contracts/resources/corpus/traffic.ts';
import { TRAJECTORY_POINTS_MAX, readEstimatedSite, readTrajectory } from '#projections/traffic/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { demographicsExample } from '../audience.ts';
import { withBrand } from './find-brand.ts';
import { listReply } from '../endpoint/reply.ts';
import { brandRead } from '../endpoint/kinds.ts';

/** Without estimates, every group is `null`. */
const WITHOUT_ESTIMATES = JSON.stringify(
  Object.fromEntries(Object.keys(Demographics.shape).map((group) => [group, null])),
);

export const getBrandDemographics = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/demographics',
  operationId: 'getBrandDemographics',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the demographics of visitors',
  description:
    "Shares of the visitors of the brand's site by sex and age, as a traffic provider estimates them; null when it states none.",
  query: noQuery,
  reply: { status: 200, shape: 'record', data: Demographics, example: demographicsExample },
  reads: ['brands', 'traffic'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readEstimatedSite(db, id));
    return { data: found.demographics ?? WITHOUT_ESTIMATES, asOf: found.as_of ?? brand.profiled_at };
  },
});

export const getBrandTrajectory = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/trajectory',
  operationId: 'getBrandTrajectory',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the traffic trajectory',
  description: `Visits and rankings of the brand's site as a traffic provider estimates them, oldest first; at most the newest ${TRAJECTORY_POINTS_MAX} points. Months never estimated are absent, not zero.`,
  query: noQuery,
  reply: {
    status: 200,
    shape: 'whole',
    data: TrajectoryPoint,
    example: [
      { date: '2026-09-01', global_ranking: 93_870, category_ranking: 412, monthly_visits: 455_000 },
      { date: '2026-10-01', global_ranking: 91_204, category_ranking: 398, monthly_visits: 482_000 },
    ],
  },
  reads: ['brands', 'traffic'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      Promise.all([readEstimatedSite(db, id), readTrajectory(db, id)]),
    );
    const [site, points] = found;
    return listReply(points, site.as_of ?? brand.profiled_at);
  },
});
