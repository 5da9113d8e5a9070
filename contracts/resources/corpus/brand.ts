import { z } from 'zod';
import { CalendarDate, Count, Country, Domain, Slug, Timestamp, Uuid } from '#contracts/values/primitives.ts';

export const CategoryReference = z
  .strictObject({ id: Uuid, slug: z.string(), name: z.string() })
  .meta({ id: 'CategoryReference', description: 'A category as shown in brand records.' });

export const Formats = z
  .strictObject({ video: Count, image: Count, carousel: Count, dco: Count, other: Count })
  .meta({ id: 'Formats', description: 'Active ads by creative format.' });

export const Freshness = z
  .strictObject({
    as_of: Timestamp.nullable().meta({ description: 'When the brand was last scanned.' }),
    last_reliable_at: Timestamp.nullable().meta({ description: 'The last scan that made its day reliable.' }),
    next_due: Timestamp.nullable().meta({ description: 'When the next scan is due.' }),
    freshness_tier: z.enum(['daily', 'weekly', 'census']),
  })
  .meta({ id: 'Freshness' });
export type Freshness = z.infer<typeof Freshness>;

const summaryShape = {
  id: Uuid,
  slug: Slug,
  name: z.string(),
  domain: Domain,
  url: z.url().meta({ description: 'The brand in this service.' }),
  logo_url: z.url().nullable(),
  country: Country.nullable(),
  category: CategoryReference.nullable().meta({ description: 'Top level.' }),
  mid_category: CategoryReference.nullable(),
  active_ads: Count.meta({ description: 'Ads not confirmed inactive; an ad not seen is not an ad stopped.' }),
  total_ads: Count,
  new_ads_7d: Count,
  indexable: z.boolean(),
  as_of: Timestamp,
} as const;

export const BrandSummary = z.strictObject(summaryShape).meta({ id: 'BrandSummary' });

export const Brand = z
  .strictObject({
    ...summaryShape,
    description: z.string().nullable(),
    inactive_ads: Count,
    new_ads_30d: Count,
    retired_ads_7d: Count,
    retired_ads_30d: Count,
    avg_ad_lifespan_days: z.number().min(0).nullable(),
    last_ad_seen_at: CalendarDate.nullable(),
    formats: Formats,
    top_countries: z.array(z.strictObject({ country: Country, ads: Count })),
  })
  .meta({ id: 'Brand' });

export const BrandReference = z
  .strictObject({ id: Uuid, slug: Slug, name: z.string(), logo_url: z.url().nullable(), url: z.url() })
  .meta({ id: 'BrandReference', description: 'A brand as shown in other records.' });

export const BrandSitemapEntry = z
  .strictObject({ slug: Slug, url: z.url(), updated_at: Timestamp })
  .meta({ id: 'BrandSitemapEntry' });

export const WeeklyVelocity = z
  .strictObject({
    week_start: CalendarDate.meta({ description: 'Monday of the ISO week.' }),
    active_ads: Count.meta({ description: 'Of the latest observed day of the week.' }),
    new_ads: Count.meta({ description: 'Sum over reliable days.' }),
    retired_ads: Count.meta({ description: 'Sum over reliable days.' }),
    reliable_days: z.int().min(0).max(7),
  })
  .meta({ id: 'WeeklyVelocity' });

export const FormatBreakdown = z
  .strictObject({ formats: Formats, as_of: Timestamp })
  .meta({ id: 'FormatBreakdown' });

export const DailyActivity = z
  .strictObject({
    date: CalendarDate,
    active_ads: Count,
    new_ads: Count,
    retired_ads: Count,
    reliable: z.boolean().meta({
      description: 'Whether complete scans covered every page linked to the brand that day.',
    }),
  })
  .meta({ id: 'DailyActivity' });
