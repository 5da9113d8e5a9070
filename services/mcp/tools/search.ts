import { z } from 'zod';
import { listBrandAds, searchAds as searchAdsEndpoint } from '#operations/ads.ts';
import { listBrands } from '#operations/brands/brands.ts';
import { Refusal } from '#contracts/errors.ts';
import { AdStatus } from '#contracts/resources/corpus/ads/ad.ts';
import { AdFormat, Country } from '#contracts/values/primitives.ts';
import { CREATIVE_FIELDS } from '#contracts/values/media/creatives.ts';
import { MediaKindName } from '#contracts/resources/corpus/ads/creative.ts';
import { getCreativeCoverage, searchCreativeRecords } from '#operations/creative-records.ts';
import { PageTypeName } from '#contracts/resources/corpus/landing-page.ts';
import type { Scope } from '#contracts/values/access.ts';
import { listPages as listPagesEndpoint } from '#operations/pages.ts';
import {
  NOT_SEEN,
  NO_MONEY,
  RESULT_MAX_BYTES,
  bytesOf,
  structuredResult,
  textResult,
  timesOf,
} from '../output/result.ts';
import type { Json, JsonObject } from '../output/observed.ts';
import { tool } from './define-tool.ts';
import { listAnswer, readCards, readSections } from './list-answer.ts';
import {
  Brand,
  Category,
  brandIdOf,
  categoryIdOf,
  imagesInput,
  isUuid,
  listInput,
  momentIn,
  pastInput,
  PAST_INPUT,
  slugCost,
  textField,
} from './parameters.ts';
import { creativesIn, imageIndexOf } from '../output/pictures.ts';

const QUERY_MAX_LENGTH = 200;
const NAME_MAX_LENGTH = 100;
const RESULTS_EACH = 5;

const toResult =
  (kind: 'brand' | 'ad', key: string, title: string, url: string) =>
  (card: Json): JsonObject => {
    const record = card as JsonObject;
    return {
      id: `${kind}:${textField(record, key)}`,
      title: `${title} ${textField(record, kind === 'brand' ? 'domain' : 'id')}`,
      url: record[url] ?? null,
      text: JSON.stringify(record),
    };
  };

export const search = tool({
  name: 'search',
  title: 'Search',
  description:
    'Finds brands by name and recent ads by words of their copy. `fetch` returns a result in full.',
  input: z.strictObject({ query: z.string().min(1).max(QUERY_MAX_LENGTH) }),
  output: 'text',
  kind: 'reader',
  scopes: () => ['brands:read', 'ads:read'],
  cost: () => 2,
  run: async ({ query }, context) => {
    const name = Array.from(query).slice(0, NAME_MAX_LENGTH).join('').slice(0, NAME_MAX_LENGTH);
    const [brands, ads] = await Promise.all([
      readCards(listBrands, { limit: RESULTS_EACH, query: { q: name.toWellFormed() } }, context),
      readCards(searchAdsEndpoint, { limit: RESULTS_EACH, query: { q: query } }, context),
    ]);
    const results = [
      ...brands.items.map(toResult('brand', 'slug', 'Brand', 'url')),
      ...ads.items.map(toResult('ad', 'id', 'Ad', 'library_url')),
    ];
    const answer = (): JsonObject => ({
      results,
      ...timesOf([brands.asOf, ads.asOf], context.now),
      notes: [NOT_SEEN, NO_MONEY],
    });
    while (bytesOf(answer()) > RESULT_MAX_BYTES) results.pop();
    return textResult(answer());
  },
});

const COPY_MAX_LENGTH = 200;
const NOTES = [NOT_SEEN, NO_MONEY];

export const searchAds = tool({
  name: 'search_ads',
  title: 'Search ads',
  description:
    'Lists ads by words of their copy, brand, format, status or country, newest start first. Without a brand only ads started in the last 90 days are searched.',
  input: z.strictObject({
    q: z
      .string()
      .min(1)
      .max(COPY_MAX_LENGTH)
      .optional()
      .meta({ description: 'Words of the copy, all of them.' }),
    brand: Brand.optional(),
    format: AdFormat.optional(),
    status: AdStatus.optional().meta({
      description: '`missing`: not in the last scan, not confirmed inactive.',
    }),
    country: Country.optional().meta({ description: 'A country whose scans showed the ad.' }),
    ...pastInput('`brand` alone'),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ brand, q, format, status, country }) => {
    const isBrandAlone = [q, format, status, country].every((one) => one === undefined);
    return brand === undefined || isUuid(brand) || isBrandAlone ? ['ads:read'] : ['ads:read', 'brands:read'];
  },
  cost: ({ brand }) => 1 + slugCost(brand),
  run: async ({ brand, q, format, status, country, as_of, observed_as_of, limit, cursor }, context) => {
    if (brand !== undefined && [q, format, status, country].every((one) => one === undefined)) {
      const input = { params: { brandId: brand }, query: { as_of, observed_as_of } };
      return listAnswer(listBrandAds, { limit, cursor, ...input, notes: NOTES }, context);
    }
    if (momentIn({ as_of, observed_as_of }) !== undefined) {
      throw new Refusal(
        'invalid_input',
        `${PAST_INPUT} go with \`brand\` alone: leave out \`q\`, \`format\`, \`status\` and \`country\`.`,
      );
    }
    const brandId = brand === undefined ? undefined : await brandIdOf(context, brand);
    const query = { q, brand_id: brandId, format, status, country };
    return listAnswer(searchAdsEndpoint, { limit, cursor, query, notes: NOTES }, context);
  },
});

const WORDS_MAX_LENGTH = 200;
const ADS_MAX = 1_000_000;
const Words = z.string().min(1).max(WORDS_MAX_LENGTH).optional();

export const searchCreatives = tool({
  name: 'search_creatives',
  title: 'Search creatives',
  description:
    'Lists creative files by how they are made and by words said or shown, most live ads first. Only described files have hook, style, presenter and offer; `coverage` says how many are.',
  input: z.strictObject({
    brand: Brand.optional(),
    media_kind: MediaKindName.optional(),
    hook: z.enum(CREATIVE_FIELDS.hook).optional(),
    style: z.enum(CREATIVE_FIELDS.style).optional(),
    presenter: z.enum(CREATIVE_FIELDS.presenter).optional(),
    offer: z.enum(CREATIVE_FIELDS.offer).optional(),
    said: Words.meta({ description: 'Words that are said, all of them.' }),
    shown: Words.meta({ description: 'Words shown on screen, all of them.' }),
    min_active_ads: z.int().min(0).max(ADS_MAX).optional(),
    coverage: z.boolean().default(false).meta({ description: 'Adds how far files were processed.' }),
    ...imagesInput(0),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ brand }) =>
    brand === undefined || isUuid(brand) ? ['creatives:read'] : ['creatives:read', 'brands:read'],
  cost: ({ brand, coverage }) => 1 + slugCost(brand) + (coverage ? 1 : 0),
  run: async ({ brand, coverage, images, image_type, limit, cursor, ...filters }, context) => {
    const brandId = brand === undefined ? undefined : await brandIdOf(context, brand);
    const ofBrand = brandId === undefined ? {} : { brand_id: brandId };
    const processed = { name: 'coverage', endpoint: getCreativeCoverage, input: { query: ofBrand } };
    const [page, added] = await Promise.all([
      readCards(searchCreativeRecords, { limit, cursor, query: { ...filters, ...ofBrand } }, context),
      readSections(coverage ? [processed] : [], context),
    ]);
    const asked = { count: images, type: image_type };
    const pictures = await context.pictures(creativesIn(page.items, context.baseUrl), asked);
    const content = {
      items: page.items,
      ...added.sections,
      ...imageIndexOf(pictures),
      ...timesOf([page.asOf], context.now),
      ...(page.cursor === null ? {} : { next_cursor: page.cursor }),
      notes: [
        'A file that was not described has no hook, style, presenter or offer and is not found by them.',
        NO_MONEY,
        ...pictures.notes,
        ...page.notes,
      ],
    };
    return structuredResult(content, pictures.blocks);
  },
});

const URL_PART_MIN_LENGTH = 3;
const URL_PART_MAX_LENGTH = 200;

export const listPages = tool({
  name: 'list_pages',
  title: 'List landing pages',
  description: 'Lists landing pages that ads lead to, by brand, category, type or part of the address.',
  input: z.strictObject({
    brand: Brand.optional(),
    category: Category.optional(),
    page_type: PageTypeName.optional(),
    url: z.string().min(URL_PART_MIN_LENGTH).max(URL_PART_MAX_LENGTH).optional().meta({
      description: 'Part of the address.',
    }),
    sort: z.enum(['newest', 'popular']).default('newest'),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ brand, category }): readonly Scope[] => [
    'pages:read',
    ...(brand === undefined || isUuid(brand) ? [] : ['brands:read' as const]),
    ...(category === undefined || isUuid(category) ? [] : ['categories:read' as const]),
  ],
  cost: ({ brand, category }) => 1 + slugCost(brand) + slugCost(category),
  run: async ({ brand, category, page_type, url, sort, limit, cursor }, context) => {
    const [brandId, categoryId] = await Promise.all([
      brand === undefined ? undefined : brandIdOf(context, brand),
      category === undefined ? undefined : categoryIdOf(context, category),
    ]);
    const query = { brand_id: brandId, category_id: categoryId, page_type, url, sort };
    return listAnswer(listPagesEndpoint, { limit, cursor, query, notes: [NOT_SEEN] }, context);
  },
});
