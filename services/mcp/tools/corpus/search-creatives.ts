import { z } from 'zod';
import { CREATIVE_FIELDS } from '#contracts/values/media/creatives.ts';
import { MediaKindName } from '#contracts/resources/corpus/ads/creative.ts';
import { getCreativeCoverage, searchCreativeRecords } from '#operations/creative-records.ts';
import { NO_MONEY } from '../../output/notes.ts';
import { creativesIn, imageIndexOf } from '../../output/pictures.ts';
import { structuredResult, timesOf } from '../../output/result.ts';
import { tool } from '../define-tool.ts';
import { readCards } from '../list-answer.ts';
import { Brand, brandIdOf, imagesInput, isUuid, listInput, slugCost } from '../parameters.ts';
import { readSections } from '../sections.ts';

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
