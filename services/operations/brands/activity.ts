import { z } from 'zod';
import { DailyActivity, FormatBreakdown, WeeklyVelocity } from '#contracts/resources/corpus/brand.ts';
import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import { BrandThumbs, CreativeLibrary } from '#contracts/resources/corpus/ads/creative.ts';
import { readCreativeLibrary, readLibraryAsOf } from '#projections/queries/brand-creative-library.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { Leakage } from '#contracts/resources/corpus/social-page.ts';
import { readLeakage } from '#projections/social-pages/read.ts';
import { readVelocity } from '#projections/velocity/read.ts';
import { readBrandThumbs, readNewestOfFiles } from '#projections/creatives/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import {
  AD_ID,
  BASE_URL,
  BRAND_ID,
  CREATOR_PAGE,
  adSummary,
  brandReference,
  brandSummary,
  formats,
} from '../endpoint/examples.ts';
import {
  pastQuery,
  commaSeparatedUuids,
  dateParameter,
  noQuery,
  wholeNumber,
} from '../endpoint/parameters.ts';
import { requireBrand, withBrand } from './find-brand.ts';
import { CREATIVE_ID, CREATIVE_KEY, creative, media } from '../creatives.ts';
import { listReply } from '../endpoint/reply.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { brandRead, corpusRead } from '../endpoint/kinds.ts';

export const getBrandBreakdown = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/breakdown',
  operationId: 'getBrandBreakdown',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the format breakdown',
  description: 'Active ads by creative format.',
  query: z.strictObject(pastQuery),
  reply: {
    status: 200,
    shape: 'record',
    data: FormatBreakdown,
    example: { formats, as_of: brandSummary.as_of },
  },
  past: 'brand',
  reads: ['brands'],
  handler: async ({ params }, { db }) => {
    const brand = await requireBrand(db, params.brandId);
    return { data: brand.breakdown, asOf: brand.as_of };
  },
});

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
  ...brandRead,
  path: '/v1/brands/{brandId}/creative-library',
  operationId: 'getBrandCreativeLibrary',
  tag: 'Brands',
  scope: 'brands:read',
  summary: "Read a brand's creative library",
  description:
    'A sample of active ads with stored media, half of them the longest-running and half the newest, and totals of format, call to action and longevity over all active ads. Longevity is observed survival, not performance.',
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
  reply: { status: 200, shape: 'record', data: CreativeLibrary, example: creativeLibrary },
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

/** A request without dates gets the 366 days up to the last scan. */
const DAYS_MAX = 366;

const shift = (date: string, days: number): string => utcDateOfMs(Date.parse(date) + days * DAY_MS);

const Query = z
  .strictObject({
    ...pastQuery,
    from: dateParameter(`First day. ${DAYS_MAX} days before \`to\` when absent.`),
    to: dateParameter('Last day. Open when absent.'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['from'],
    message: '`from` must not be after `to`',
  })
  .refine(({ from, to }) => from === undefined || to === undefined || shift(from, DAYS_MAX) > to, {
    path: ['to'],
    message: `at most ${DAYS_MAX} days from \`from\` to \`to\``,
  });

export const getBrandDailyActivity = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/daily-activity',
  operationId: 'getBrandDailyActivity',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read daily activity',
  description:
    'Active, new and retired ads of each observed day, oldest first. Days never observed are absent, not zero; unreliable days carry `reliable: false`.',
  query: Query,
  reply: {
    status: 200,
    shape: 'whole',
    data: DailyActivity,
    example: [{ date: '2026-11-20', active_ads: 126, new_ads: 3, retired_ads: 1, reliable: true }],
  },
  past: 'brand',
  reads: ['brands', 'daily-activity'],
  handler: async ({ params, query }, { db }) => {
    const to = query.to ?? (query.from ? shift(query.from, DAYS_MAX - 1) : undefined);
    const from = query.from ?? (query.to ? shift(query.to, 1 - DAYS_MAX) : undefined);
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      readDailyActivity(db, id, omitUndefined({ from, to })),
    );
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});

const leakageExample = {
  active_ads: 131,
  own_page_ads: 97,
  third_party_ads: 27,
  unlinked_page_ads: 5,
  unnamed_page_ads: 2,
  own_pages: 1,
  third_party_pages: 1,
  unlinked_pages: 2,
  largest_third_party_pages: [{ page: CREATOR_PAGE, role: 'CREATOR', active_ads: 27 }],
};

export const getBrandLeakage = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/leakage',
  operationId: 'getBrandLeakage',
  tag: 'Brands',
  scope: 'brands:read',
  summary: "Read where a brand's ads run outside its own pages",
  description:
    "Counts of the active ads of the brand by the page that runs them: totals over all pages, and the ten largest pages of third parties. A page is its own when it is linked to the brand as `OFFICIAL` or `REGIONAL`. It is a third party's when it is linked to the brand in another role, or to other brands only. A page linked to no brand is counted as unlinked, never as a third party's.",
  query: noQuery,
  reply: { status: 200, shape: 'record', data: Leakage, example: leakageExample },
  reads: ['brands', 'social-pages'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readLeakage(db, id));
    return { data: found.data, asOf: found.asOf ?? brand.profiled_at };
  },
});

const WEEKS_MAX = 52;
const WEEKS_DEFAULT = 12;

export const getBrandVelocity = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/velocity',
  operationId: 'getBrandVelocity',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read weekly velocity',
  description:
    'One item for every ISO week that has an observed day, oldest first. `new_ads` and `retired_ads` sum reliable days only. Shade a week with `reliable_days` 0 as unreliable.',
  query: z.strictObject({
    ...pastQuery,
    weeks: wholeNumber(
      z
        .int()
        .min(1)
        .max(WEEKS_MAX)
        .default(WEEKS_DEFAULT)
        .meta({ description: 'ISO weeks, counted back from the latest observed one.' }),
    ),
  }),
  reply: {
    status: 200,
    shape: 'whole',
    data: WeeklyVelocity,
    example: [{ week_start: '2026-11-16', active_ads: 126, new_ads: 17, retired_ads: 9, reliable_days: 5 }],
  },
  past: 'brand',
  reads: ['brands', 'velocity'],
  handler: async ({ params, query }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readVelocity(db, id, query.weeks));
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});

const BRANDS_MAX = 100;

const brandThumbs = {
  brand_id: BRAND_ID,
  thumbs: [
    {
      creative_id: CREATIVE_ID,
      creative_key: CREATIVE_KEY,
      ad_id: AD_ID,
      media_kind: 'video',
      image_url: media.poster_url,
      width: media.width,
      height: media.height,
      started_on: '2026-11-02',
    },
  ],
};

export const listBrandThumbs = endpoint({
  ...corpusRead,
  path: '/v1/brand-thumbs',
  operationId: 'listBrandThumbs',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read thumbnails of brands',
  description:
    'For each requested brand, in the order of their ids, up to four newest live creatives with a stored image or poster. The reply has every requested brand; an empty list means that none is stored.',
  query: z.strictObject({
    brand_ids: commaSeparatedUuids(BRANDS_MAX).meta({ description: 'Uuids of brands, separated by commas.' }),
  }),
  reply: { status: 200, shape: 'whole', data: BrandThumbs, example: [brandThumbs] },
  reads: ['creatives'],
  handler: async ({ query }, { db }) => {
    const [newest, { items, as_of }] = await Promise.all([
      readNewestOfFiles(db),
      readBrandThumbs(db, query.brand_ids),
    ]);
    return listReply(items, as_of ?? newest);
  },
});
