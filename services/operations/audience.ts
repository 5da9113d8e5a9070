import { z } from 'zod';
import { AUDIENCE_SEGMENTS, isAudienceSegment } from '#contracts/values/audience-segments.ts';
import { Refusal } from '#contracts/errors.ts';
import { AudienceBrand } from '#contracts/resources/corpus/ranking.ts';
import { listBrandsOfSegment } from '#projections/queries/brands.ts';
import { pageByVisits } from './rankings.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { brandSummary } from './endpoint/examples.ts';
import { pageQuery } from './endpoint/parameters.ts';

export const demographicsExample = {
  female: 0.64,
  male: 0.36,
  age_18_24: 0.27,
  age_25_34: 0.31,
  age_35_44: 0.19,
  age_45_54: 0.12,
  age_55_64: 0.07,
  age_65_plus: 0.04,
};

const SEGMENT_MAX_LENGTH = 100;
const SEGMENTS = Object.keys(AUDIENCE_SEGMENTS);
const SEGMENTS_DESCRIBED = Object.entries(AUDIENCE_SEGMENTS)
  .map(([segment, { description }]) => `\`${segment}\` (${description})`)
  .join(', ');

const SEGMENT_UNKNOWN = new Refusal('not_found', `Segment not found. Use one of ${SEGMENTS.join(', ')}.`);

export const listAudience = endpoint({
  method: 'GET',
  path: '/v1/audience/{segment}',
  operationId: 'listAudience',
  tag: 'Audience',
  scope: 'audience:read',
  summary: 'List brands by their audience',
  description: `Public brands with visitors in the segment, by monthly visits, most first. Shares of visitors are estimates of a traffic provider. Segments: ${SEGMENTS_DESCRIBED}. A brand may be in several.`,
  params: z.strictObject({
    segment: z
      .string()
      .min(1)
      .max(SEGMENT_MAX_LENGTH)
      .meta({ description: `One of ${SEGMENTS.map((segment) => `\`${segment}\``).join(', ')}.` }),
  }),
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { segment: 'gen-z' },
  reply: {
    status: 200,
    shape: 'paged',
    data: AudienceBrand,
    example: [
      {
        rank: 1,
        brand: brandSummary,
        monthly_visits: 482_000,
        estimated_for: '2026-10-01',
        demographics: demographicsExample,
      },
    ],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['traffic', 'brands'],
  handler: async ({ params, page }, { db }) => {
    if (!isAudienceSegment(params.segment)) throw SEGMENT_UNKNOWN;
    const { segment } = params;
    return pageByVisits(db, () => listBrandsOfSegment(db, segment, page));
  },
});
