import { z } from 'zod';
import { CATEGORY_LEVELS_MAX } from '#contracts/observations/brand-profile.ts';
import { Count, Slug, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { CategoryReference } from './brand.ts';
import { PageTypeName } from './landing-page.ts';
import { ToolReference } from './tool.ts';

export const Category = z
  .strictObject({
    id: Uuid,
    slug: Slug,
    name: z.string(),
    url: z.url().meta({ description: 'The category in this service.' }),
    level: z.int().min(1).max(CATEGORY_LEVELS_MAX).meta({ description: '1 for a top level, 3 for a leaf.' }),
    parent: CategoryReference.nullable().meta({ description: 'The category above; null for a top level.' }),
    description: z.string().nullable(),
    children: Count.meta({ description: 'Categories directly below.' }),
    totals: z
      .strictObject({
        brands: Count,
        active_ads: Count.meta({ description: 'Of those brands.' }),
        total_ads: Count,
        brands_with_traffic: Count.meta({ description: 'Brands whose visits are estimated.' }),
        monthly_visits: z
          .number()
          .min(0)
          .nullable()
          .meta({ description: 'Sum of their estimated visits; null when none is estimated.' }),
      })
      .meta({ description: 'Over the public brands of this category and of those below it.' }),
    as_of: Timestamp.nullable().meta({
      description: 'Newest observation of its public brands; null when it has no public brand.',
    }),
  })
  .meta({ id: 'Category' });

export const CategorySitemapEntry = z
  .strictObject({ slug: Slug, url: z.url(), updated_at: Timestamp })
  .meta({ id: 'CategorySitemapEntry' });

export const CategoryStats = z
  .strictObject({
    category: CategoryReference,
    brands: Count.meta({ description: 'Public brands of the category and of those below it.' }),
    landing_urls: Count.meta({ description: 'Live landing pages that ads of those brands lead to.' }),
    brands_with_traffic: Count.meta({ description: 'Brands whose visits are estimated.' }),
    monthly_visits: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: 'Sum of their estimated visits; null when none is estimated.' }),
    top_page_types: z.array(z.strictObject({ page_type: PageTypeName, landing_urls: Count })).meta({
      description: 'Up to ten types of those pages, most first; pages not classified are left out.',
    }),
    top_tools: z
      .array(z.strictObject({ tool: ToolReference, brands: Count }))
      .meta({ description: 'Up to ten tools detected on the sites of those brands, most brands first.' }),
  })
  .meta({ id: 'CategoryStats' });
