import { z } from 'zod';
import { Count, Timestamp } from '#contracts/values/primitives.ts';
import { CategorySlug } from './brand.ts';

/** Exactly as specified for `GET /v1/system/freshness`. */
export const SystemFreshness = z
  .strictObject({
    ads_total: Count.meta({ description: 'Ads ever observed, inactive ones included.' }),
    brands_total: Count.meta({ description: 'Brands known to the service, scanned or not.' }),
    brands_with_usable_data: Count.meta({ description: 'Brands scanned at least once.' }),
    last_scrape_at: Timestamp.meta({ description: 'The newest scan of any brand; 1970 before the first.' }),
    data_version: z.string().meta({ description: 'Identifier of this snapshot of the data.' }),
    coverage: z
      .array(
        z.strictObject({
          category_slug: CategorySlug,
          brands: Count.meta({ description: 'Brands of the category, scanned or not.' }),
          brands_scraped_7d: Count.meta({
            description: 'Brands scanned in the 7 UTC days that end with `last_scrape_at`.',
          }),
        }),
      )
      .meta({ description: 'Top-level categories by slug; brands without a category are left out.' }),
  })
  .meta({ id: 'SystemFreshness', description: 'What the corpus holds and how fresh it is.' });
