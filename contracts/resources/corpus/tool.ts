import { z } from 'zod';
import { CalendarDate, Count, Country, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandSummary, CategoryReference } from './brand.ts';

/** Detection is automated and can be wrong. */

const members = {
  slug: z.string(),
  name: z.string(),
  category: z.string().meta({ description: 'What the tool is for.' }),
  website_url: z.url().nullable(),
  url: z.url().meta({ description: 'The tool in this service.' }),
} as const;

/** Specification, part "Tech-stack item". */
export const TechStackItem = z.strictObject(members).meta({ id: 'TechStackItem' });

export const ToolReference = z
  .strictObject({ id: Uuid, ...members })
  .meta({ id: 'ToolReference', description: 'A tool as shown in other records.' });

const summaryShape = {
  id: Uuid,
  ...members,
  brands: Count.meta({
    description: 'Public brands on whose sites it was detected and is not known to be gone.',
  }),
} as const;

export const ToolSummary = z.strictObject(summaryShape).meta({ id: 'ToolSummary' });

const Share = z.number().min(0).max(1).nullable();

export const Tool = z
  .strictObject({
    ...summaryShape,
    adoption_by_category: z
      .array(
        z.strictObject({
          category: CategoryReference,
          brands: Count,
          scanned_brands: Count.meta({
            description: 'Public brands of the category whose sites were scanned.',
          }),
          share: Share.meta({ description: 'brands over scanned_brands.' }),
        }),
      )
      .meta({ description: 'Top-level categories, most brands first.' }),
    common_combinations: z
      .array(
        z.strictObject({
          tool: ToolReference,
          brands: Count.meta({ description: 'Public brands that have both.' }),
          share: Share.meta({ description: 'Share of the brands with this tool.' }),
        }),
      )
      .meta({ description: 'Up to twenty tools that most often occur with it.' }),
    traffic_split: z
      .array(
        z.strictObject({
          visits_from: Count.nullable().meta({
            description: 'Lowest monthly visits of the band; null for brands without an estimate.',
          }),
          visits_to: Count.nullable().meta({
            description: 'Upper bound of the band, excluded; null for the last band.',
          }),
          brands: Count,
        }),
      )
      .meta({ description: 'Brands that have the tool, by estimated monthly visits.' }),
  })
  .meta({ id: 'Tool' });

export const ToolBrand = z
  .strictObject({
    rank: z.int().min(1),
    brand: BrandSummary,
    monthly_visits: z.number().min(0).nullable().meta({ description: 'Estimated by a traffic provider.' }),
    estimated_for: CalendarDate.nullable().meta({ description: 'The day, or the first of the month.' }),
    top_country: Country.nullable().meta({ description: 'Where most visits come from.' }),
    detected_at: Timestamp,
    missing_since: Timestamp.nullable().meta({
      description: 'Time of the first complete scan that did not detect it. A missing tool is not yet gone.',
    }),
  })
  .meta({ id: 'ToolBrand', description: 'A brand that has a tool.' });
