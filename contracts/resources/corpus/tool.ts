import { z } from 'zod';
import { CalendarDate, Count, Country, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandSummary, CategoryReference } from './brand.ts';
import { Rank, VisitsOrNull } from './traffic.ts';

/** Detection is automated and can be wrong. */

const id = Uuid.meta({ description: 'Stable id of the tool; paths take it as `{toolSlug}` too.' });
const members = {
  slug: z.string().meta({ description: 'Name of the tool in links; paths take it as `{toolSlug}`.' }),
  name: z.string().meta({ description: 'The tool in words, to be shown to people.' }),
  category: z.string().meta({ description: 'What the tool is for.' }),
  website_url: z.url().nullable().meta({ description: "Site of the tool's maker; null: not known." }),
  url: z.url().meta({ description: 'Address of the tool in this API.' }),
} as const;

/** Specification, part "Tech-stack item". */
export const TechStackItem = z
  .strictObject(members)
  .meta({ id: 'TechStackItem', description: "A tool detected on the brand's site; detection can be wrong." });

export const ToolReference = z
  .strictObject({ id, ...members })
  .meta({ id: 'ToolReference', description: 'A tool as shown in other records.' });

const summaryShape = {
  id,
  ...members,
  brands: Count.meta({
    description: 'Public brands on whose sites it was detected and is not known to be gone.',
  }),
} as const;

export const ToolSummary = z
  .strictObject(summaryShape)
  .meta({ id: 'ToolSummary', description: 'A tool and how many brands have it.' });

const Share = z.number().min(0).max(1).nullable();

export const Tool = z
  .strictObject({
    ...summaryShape,
    adoption_by_category: z
      .array(
        z.strictObject({
          category: CategoryReference,
          brands: Count.meta({ description: 'Public brands of the category that have the tool.' }),
          scanned_brands: Count.meta({
            description: 'Public brands of the category whose sites were scanned.',
          }),
          share: Share.meta({
            description: '`brands` divided by `scanned_brands`, 0 to 1; null: none was scanned.',
          }),
        }),
      )
      .meta({ description: 'Top-level categories, most brands first.' }),
    common_combinations: z
      .array(
        z.strictObject({
          tool: ToolReference,
          brands: Count.meta({ description: 'Public brands that have both.' }),
          share: Share.meta({
            description: 'Share of the brands with this tool, 0 to 1; null: there are none.',
          }),
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
          brands: Count.meta({ description: 'Public brands of the band that have the tool.' }),
        }),
      )
      .meta({ description: 'Brands that have the tool, by estimated monthly visits.' }),
  })
  .meta({ id: 'Tool', description: 'A tool with who has it.' });

export const ToolBrand = z
  .strictObject({
    rank: Rank,
    brand: BrandSummary,
    monthly_visits: VisitsOrNull,
    estimated_for: CalendarDate.nullable().meta({
      description: 'The day, or the first of the month, of the visits; null: no estimate.',
    }),
    top_country: Country.nullable().meta({
      description: 'Where most visits come from, ISO 3166-1 alpha-2; null: no estimate.',
    }),
    detected_at: Timestamp.meta({
      description: 'When a scan first found it, or found it again after it was gone.',
    }),
    missing_since: Timestamp.nullable().meta({
      description:
        'Time of the first complete scan that did not detect it, which does not mean that it is gone; null: detected.',
    }),
  })
  .meta({ id: 'ToolBrand', description: 'A brand that has a tool.' });
