import { z } from 'zod';
import { Count, Timestamp } from '#contracts/values/primitives.ts';

/** Exactly as specified for `GET /v1/system/freshness`. */
export const SystemFreshness = z
  .strictObject({
    ads_total: Count,
    brands_total: Count,
    brands_with_usable_data: Count.meta({ description: 'Brands scanned at least once.' }),
    last_scrape_at: Timestamp.meta({ description: 'The newest scan of any brand; 1970 before the first.' }),
    data_version: z.string().meta({ description: 'Identifier of this snapshot of the data.' }),
    coverage: z.array(
      z.strictObject({
        category_slug: z.string(),
        brands: Count,
        brands_scraped_7d: Count.meta({ description: 'Brands scanned in the last 7 days.' }),
      }),
    ),
  })
  .meta({ id: 'SystemFreshness' });
