import { utcDate } from '#contracts/values/time.ts';
import { z } from 'zod';
import { CreativeLibrary } from '#contracts/resources/corpus/creative.ts';
import { readCreativeLibrary } from '#projections/queries/brand-creative-library.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, wholeNumber } from '#operations/endpoint/parameters.ts';
import { creativeLibrary } from '#operations/creatives/examples.ts';
import { requireBrand } from '../find-brand-or-404.ts';

const SAMPLE_DEFAULT = 20;
const SAMPLE_MAX = 100;

export const getBrandCreativeLibrary = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/creative-library',
  operationId: 'getBrandCreativeLibrary',
  tag: 'Brands',
  scope: 'brands:read',
  summary: "Read a brand's creative library",
  description:
    'A sample of active ads with stored media, half of them the longest-running and half the newest, and totals of format, call to action and longevity over all active ads. Longevity is observed survival, not performance.',
  params: brandParams,
  query: z.strictObject({
    sample: wholeNumber(
      z
        .int()
        .min(1)
        .max(SAMPLE_MAX)
        .default(SAMPLE_DEFAULT)
        .meta({ description: 'Ads of both halves together; answered as `sample_cap`.' }),
    ),
  }),
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'record', data: CreativeLibrary, example: creativeLibrary },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'ads', 'creatives'],
  handler: async ({ params, query }, { db }) => {
    const { brand_id: brandId, as_of } = await requireBrand(db, params.brandId);
    const texts = await readBrandSummaries(db, [brandId]);
    const library = { brandId, sample: query.sample, day: utcDate(as_of) };
    const data = await readCreativeLibrary(db, library, texts.get(brandId)?.reference ?? 'null');
    return { data, asOf: as_of };
  },
});
