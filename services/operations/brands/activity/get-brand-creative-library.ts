import { utcDate } from '#contracts/values/time.ts';
import { z } from 'zod';
import { CreativeLibrary } from '#contracts/resources/corpus/ads/creative.ts';
import { readCreativeLibrary, readLibraryAsOf } from '#projections/queries/brand-creative-library.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import {
  AD_ID,
  adSummary,
  BASE_URL,
  BRAND_ID,
  brandReference,
  formats,
} from '#operations/endpoint/examples.ts';
import { brandParams, wholeNumber } from '#operations/endpoint/parameters.ts';
import { requireBrand } from '../find-brand-or-404.ts';
import { creative } from '#operations/creatives/examples.ts';

const SAMPLE_DEFAULT = 20;
const SAMPLE_MAX = 100;

const libraryAd = {
  id: AD_ID,
  page: adSummary.page,
  format: 'video',
  title: adSummary.title,
  body: adSummary.body,
  cta_type: 'SHOP_NOW',
  started_on: '2026-11-02',
  days_active: 18,
  creatives: [creative],
  url: `${BASE_URL}/v1/ads/${AD_ID}`,
};

const creativeLibrary = {
  brand: brandReference,
  sample_cap: 20,
  longest_running: [libraryAd],
  newest: [],
  totals: {
    active_ads: 126,
    with_stored_media: 1,
    formats,
    ctas: [
      { cta_type: 'SHOP_NOW', ads: 97 },
      { cta_type: null, ads: 29 },
    ],
    longevity: { days_0_6: 17, days_7_29: 48, days_30_89: 44, days_90_plus: 17, longest_days: 212 },
  },
};

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
        .meta({ description: 'Maximum ads of both halves together; the reply repeats it as `sample_cap`.' }),
    ),
  }),
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'record', data: CreativeLibrary, example: creativeLibrary },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'ads', 'creatives'],
  handler: async ({ params, query }, { db }) => {
    const { brand_id: brandId, profiled_at } = await requireBrand(db, params.brandId);
    const [scannedAt, texts] = await Promise.all([
      readLibraryAsOf(db, brandId),
      readBrandSummaries(db, [brandId]),
    ]);
    const asOf = scannedAt ?? profiled_at;
    const library = { brandId, sample: query.sample, day: utcDate(asOf) };
    const data = await readCreativeLibrary(db, library, texts.get(brandId)?.reference ?? 'null');
    return { data, asOf };
  },
});
