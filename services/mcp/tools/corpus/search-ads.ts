import { z } from 'zod';
import { AdStatus } from '#contracts/resources/corpus/ads/ad.ts';
import { AdFormat, Country } from '#contracts/values/primitives.ts';
import { listBrandAds, searchAds as searchAdsEndpoint } from '#operations/ads.ts';
import { NO_MONEY, NOT_SEEN } from '../../output/notes.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { Brand, brandIdOf, isUuid, listInput, slugCost } from '../parameters.ts';

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
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ brand, q, format, status, country }) => {
    const isBrandAlone = [q, format, status, country].every((one) => one === undefined);
    return brand === undefined || isUuid(brand) || isBrandAlone ? ['ads:read'] : ['ads:read', 'brands:read'];
  },
  cost: ({ brand }) => 1 + slugCost(brand),
  run: async ({ brand, q, format, status, country, limit, cursor }, context) => {
    if (brand !== undefined && [q, format, status, country].every((one) => one === undefined)) {
      return listAnswer(listBrandAds, { limit, cursor, params: { brandId: brand }, notes: NOTES }, context);
    }
    const brandId = brand === undefined ? undefined : await brandIdOf(context, brand);
    const query = { q, brand_id: brandId, format, status, country };
    return listAnswer(searchAdsEndpoint, { limit, cursor, query, notes: NOTES }, context);
  },
});
