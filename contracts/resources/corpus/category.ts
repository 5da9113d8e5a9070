import { z } from 'zod';
import { CATEGORY_LEVELS_MAX } from '#contracts/observations/brand-profile.ts';
import { Count, Slug, Timestamp } from '#contracts/values/primitives.ts';
import { CategoryId, CategoryName, CategoryReference } from './brand.ts';
import { PageTypeName } from './landing-page.ts';
import { ToolReference } from './tool.ts';
import { VisitsOrNull } from './traffic.ts';

const slug = Slug.meta({ description: 'Name of the category in links; several categories may share one.' });
const url = z.url().meta({ description: 'Address of the category in this API.' });
const VisitsOfBrands = VisitsOrNull.meta({
  description: 'Sum of their estimated visits in a month; null when none is estimated.',
});

export const Category = z
  .strictObject({
    id: CategoryId,
    slug,
    name: CategoryName,
    url,
    level: z.int().min(1).max(CATEGORY_LEVELS_MAX).meta({ description: '1 for a top level, 3 for a leaf.' }),
    parent: CategoryReference.nullable().meta({ description: 'The category above; null for a top level.' }),
    description: z
      .string()
      .nullable()
      .meta({ description: 'What belongs to it, by its own definition; null: not described.' }),
    children: Count.meta({ description: 'Categories directly below.' }),
    totals: z
      .strictObject({
        brands: Count.meta({ description: 'Public brands, each counted once.' }),
        active_ads: Count.meta({ description: 'Ads of those brands that are not confirmed inactive.' }),
        total_ads: Count.meta({ description: 'Ads of those brands ever observed.' }),
        brands_with_traffic: Count.meta({ description: 'Brands whose visits are estimated.' }),
        monthly_visits: VisitsOfBrands,
      })
      .meta({ description: 'Figures of the public brands of this category and of those below it.' }),
    as_of: Timestamp.nullable().meta({
      description: 'Newest observation of its public brands; null when it has no public brand.',
    }),
  })
  .meta({ id: 'Category', description: 'What brands sell, at one of three levels.' });

export const CategorySitemapEntry = z
  .strictObject({
    slug,
    url,
    updated_at: Timestamp.meta({ description: 'Its newest naming, or observation of its public brands.' }),
  })
  .meta({ id: 'CategorySitemapEntry', description: 'A category that holds a public brand.' });

export const CategoryStats = z
  .strictObject({
    category: CategoryReference,
    brands: Count.meta({ description: 'Public brands of the category and of those below it.' }),
    landing_urls: Count.meta({ description: 'Live landing pages that ads of those brands lead to.' }),
    brands_with_traffic: Count.meta({ description: 'Brands whose visits are estimated.' }),
    monthly_visits: VisitsOfBrands,
    top_page_types: z
      .array(
        z.strictObject({
          page_type: PageTypeName,
          landing_urls: Count.meta({ description: 'Those landing pages of this type.' }),
        }),
      )
      .meta({
        description: 'Up to ten types of those pages, most first; pages not classified are left out.',
      }),
    top_tools: z
      .array(
        z.strictObject({
          tool: ToolReference,
          brands: Count.meta({ description: 'Brands among them that have the tool.' }),
        }),
      )
      .meta({ description: 'Up to ten tools detected on the sites of those brands, most brands first.' }),
  })
  .meta({ id: 'CategoryStats', description: 'Figures of the public brands of a category.' });
