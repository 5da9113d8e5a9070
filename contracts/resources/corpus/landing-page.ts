import { z } from 'zod';
import { PAGE_TYPES } from '#contracts/values/links/landing-pages.ts';
import { Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference } from './brand.ts';

export const PageTypeName = z.enum(PAGE_TYPES);

const summaryShape = {
  id: Uuid,
  page_url: z.url().meta({
    description: 'URL of the page, without tracking and other parameters that do not select a page.',
  }),
  host: z.string(),
  title: z.string().nullable(),
  page_type: PageTypeName.nullable().meta({
    description: 'Automated classification, which can be wrong; null: not classified.',
  }),
  page_type_confidence: z.number().min(0).max(1).nullable(),
  live: z
    .boolean()
    .meta({ description: 'False when the last visit found the page gone. A page never visited is live.' }),
  brand: BrandReference.nullable().meta({
    description: 'The public brand that owns the domain of the host; null on other hosts.',
  }),
  active_ads: Count.meta({
    description: 'Ads not confirmed inactive that lead here, by their own link or the link of a card.',
  }),
  total_ads: Count.meta({ description: 'Ads ever seen to lead here.' }),
  first_seen_at: Timestamp,
  as_of: Timestamp.meta({
    description:
      'Newest observation of the page: an ad that began to lead here, a visit, or a classification.',
  }),
  url: z.url().meta({ description: 'The page in this service.' }),
} as const;

export const LandingPageSummary = z
  .strictObject(summaryShape)
  .meta({ id: 'LandingPageSummary', description: 'A landing page that ads were seen to lead to.' });

export const LandingPage = z
  .strictObject({
    ...summaryShape,
    brands: z
      .array(z.strictObject({ brand: BrandReference, active_ads: Count, total_ads: Count }))
      .meta({ description: 'Public brands whose ads lead here, most ads first, at most 20.' }),
    description: z.string().nullable(),
    language: z.string().nullable().meta({ description: 'As the page declares it.' }),
    canonical_url: z.url().nullable(),
    http_status: z.int().nullable().meta({ description: 'HTTP status of the last visit, after redirects.' }),
    headings: z.array(z.string()).nullable().meta({ description: 'Null: not read.' }),
    cta_texts: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Texts of call-to-action buttons; null: not scraped.' }),
    scraped_at: Timestamp.nullable().meta({
      description: 'When a visit last found something new; null: never visited.',
    }),
    classified_at: Timestamp.nullable().meta({
      description: 'When the classification last changed; null: never classified.',
    }),
  })
  .meta({ id: 'LandingPage' });
