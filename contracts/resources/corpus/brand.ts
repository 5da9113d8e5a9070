import { z } from 'zod';
import { CalendarDate, Count, Country, Domain, Slug, Timestamp, Uuid } from '#contracts/values/primitives.ts';

export const CategoryId = Uuid.meta({ description: 'Stable id of the category, `{categoryId}` in paths.' });
export const CategorySlug = z.string().meta({
  description: 'Short name of the category in links; categories of different parents may share one.',
});
export const CategoryName = z.string().meta({ description: 'The category in words, to be shown to people.' });

export const CategoryReference = z
  .strictObject({ id: CategoryId, slug: CategorySlug, name: CategoryName })
  .meta({ id: 'CategoryReference', description: 'A category as shown in brand records.' });

export const Formats = z
  .strictObject({
    video: Count.meta({ description: 'Ads whose creative is one video.' }),
    image: Count.meta({ description: 'Ads whose creative is one still picture.' }),
    carousel: Count.meta({ description: 'Ads with several cards to swipe through.' }),
    dco: Count.meta({ description: 'Dynamic creatives, which the network puts together for each viewer.' }),
    other: Count.meta({ description: 'Ads of another format, or whose format was not observed.' }),
  })
  .meta({ id: 'Formats', description: 'Active ads by creative format.' });

export const Freshness = z
  .strictObject({
    as_of: Timestamp.nullable().meta({ description: 'When the brand was last scanned; null: never.' }),
    last_reliable_at: Timestamp.nullable().meta({
      description: 'The last scan that made its day reliable; null: there was none.',
    }),
    next_due: Timestamp.nullable().meta({
      description: 'When the next scan is due by its tier; null for a brand neither scanned nor tracked.',
    }),
    freshness_tier: z.enum(['daily', 'weekly', 'census']).meta({
      description:
        'How often the brand is scanned: daily or weekly while a workspace tracks it so, else `census`, every 30 days.',
    }),
  })
  .meta({ id: 'Freshness', description: 'How recent the figures of a brand are.' });
export type Freshness = z.infer<typeof Freshness>;

export const BrandId = Uuid.meta({ description: 'Stable id of the brand, `{brandId}` in paths.' });

const referenceShape = {
  id: BrandId,
  slug: Slug.meta({
    description:
      'Name of the brand in links, made from its domain and never changed; paths take it for the id.',
  }),
  name: z.string().meta({ description: 'The brand as it calls itself; its domain until that was observed.' }),
  logo_url: z.url().nullable().meta({ description: 'Picture of the logo; null when none was observed.' }),
  url: z.url().meta({ description: 'Address of the brand in this API.' }),
} as const;

const { id, slug, name, logo_url, url } = referenceShape;
const summaryShape = {
  id,
  slug,
  name,
  domain: Domain.meta({ description: 'Domain that it is known by; each brand has one.' }),
  url,
  logo_url,
  country: Country.nullable().meta({
    description: 'Country in which the brand is based, ISO 3166-1 alpha-2; null when that was not observed.',
  }),
  category: CategoryReference.nullable().meta({
    description: 'What it sells, at the top level; null: not categorised.',
  }),
  mid_category: CategoryReference.nullable().meta({
    description: 'What it sells, one level below `category`; null: not categorised so finely.',
  }),
  active_ads: Count.meta({ description: 'Ads not confirmed inactive; an ad not seen is not an ad stopped.' }),
  total_ads: Count.meta({ description: 'Ads ever observed, those confirmed inactive included.' }),
  new_ads_7d: Count.meta({
    description:
      'New ads of the 7 UTC days that end with its last scan; one found long after it began is not new.',
  }),
  indexable: z.boolean().meta({ description: 'Whether search engines should list the page of the brand.' }),
  as_of: Timestamp.meta({ description: 'Its last scan, or its profile while it was never scanned.' }),
} as const;

export const BrandSummary = z
  .strictObject(summaryShape)
  .meta({ id: 'BrandSummary', description: 'A brand with its main figures, as in lists.' });

export const Brand = z
  .strictObject({
    ...summaryShape,
    description: z.string().nullable().meta({
      description: 'What the brand says about itself; null when that was not observed.',
    }),
    inactive_ads: Count.meta({ description: 'Ads confirmed inactive: `total_ads` minus `active_ads`.' }),
    new_ads_30d: Count.meta({ description: 'New ads of the 30 UTC days that end with its last scan.' }),
    retired_ads_7d: Count.meta({
      description: 'Ads confirmed inactive in the 7 UTC days that end with its last scan.',
    }),
    retired_ads_30d: Count.meta({
      description: 'Ads confirmed inactive in the 30 UTC days that end with its last scan.',
    }),
    avg_ad_lifespan_days: z.number().min(0).nullable().meta({
      description:
        'Mean days that its ended ads were observed to run: survival, not performance. Null when none has ended.',
    }),
    last_ad_seen_at: CalendarDate.nullable().meta({
      description: 'UTC day of the last scan that showed an ad of the brand; null: none did.',
    }),
    formats: Formats,
    top_countries: z
      .array(
        z.strictObject({
          country: Country.meta({ description: 'ISO 3166-1 alpha-2.' }),
          ads: Count.meta({ description: 'Active ads that scans of this country showed.' }),
        }),
      )
      .meta({ description: 'The ten countries with most active ads, most first; an ad counts in each.' }),
  })
  .meta({ id: 'Brand', description: 'A brand with all of its figures.' });

export const BrandReference = z
  .strictObject(referenceShape)
  .meta({ id: 'BrandReference', description: 'A brand as shown in other records.' });

export const BrandSitemapEntry = z
  .strictObject({
    slug,
    url,
    updated_at: Timestamp.meta({ description: 'Newest observation of its profile or scan of its ads.' }),
  })
  .meta({ id: 'BrandSitemapEntry', description: 'A brand that search engines should list.' });

export const WeeklyVelocity = z
  .strictObject({
    week_start: CalendarDate.meta({ description: 'Monday of the ISO week.' }),
    active_ads: Count.meta({
      description: 'Ads not confirmed inactive on the latest observed day of the week.',
    }),
    new_ads: Count.meta({ description: 'New ads, summed over reliable days.' }),
    retired_ads: Count.meta({ description: 'Ads confirmed inactive, summed over reliable days.' }),
    reliable_days: z.int().min(0).max(7).meta({
      description: 'Days that the sums are over; with 0 they mean nothing, and the week is to be shaded.',
    }),
  })
  .meta({ id: 'WeeklyVelocity', description: 'Ads of a brand in one ISO week with an observed day.' });

export const FormatBreakdown = z
  .strictObject({
    formats: Formats,
    as_of: Timestamp.meta({
      description: 'Last scan of the brand, or its profile while it was never scanned.',
    }),
  })
  .meta({ id: 'FormatBreakdown', description: 'What formats the active ads of a brand have.' });

export const DailyActivity = z
  .strictObject({
    date: CalendarDate.meta({ description: 'An observed UTC day; other days are absent, not zero.' }),
    active_ads: Count.meta({ description: 'Ads not confirmed inactive, by the last scan of the day.' }),
    new_ads: Count.meta({
      description: 'Ads first seen that day; one found long after it began is not new.',
    }),
    retired_ads: Count.meta({ description: 'Ads that scans of the day confirmed inactive.' }),
    reliable: z.boolean().meta({
      description: 'Whether complete scans covered every page linked to the brand that day.',
    }),
  })
  .meta({ id: 'DailyActivity', description: 'Ads of a brand on one observed day.' });
