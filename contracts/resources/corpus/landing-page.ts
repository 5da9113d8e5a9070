import { z } from 'zod';
import { PAGE_TYPES } from '#contracts/values/links/landing-pages.ts';
import { Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference } from './brand.ts';

export const PageTypeName = z.enum(PAGE_TYPES).meta({
  id: 'PageType',
  description: 'Kind of landing page, by an automated classification that can be wrong.',
});

const summaryShape = {
  id: Uuid.meta({ description: 'Stable id of the page, derived from its address; `{pageId}` in paths.' }),
  page_url: z.url().meta({
    description: 'URL of the page, without tracking and other parameters that do not select a page.',
  }),
  host: z.string().meta({ description: 'Host of the address, which may be that of a shop platform.' }),
  title: z.string().nullable().meta({ description: 'Its HTML title; null: not read.' }),
  page_type: PageTypeName.nullable().meta({
    description: 'Automated classification, which can be wrong; null: not classified.',
  }),
  page_type_confidence: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({ description: 'How sure the classifier is, 0 to 1; null: not classified.' }),
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
  first_seen_at: Timestamp.meta({
    description: 'When the page was first observed, such as in the link of an ad.',
  }),
  as_of: Timestamp.meta({
    description:
      'Newest observation of the page: an ad that began to lead here, a visit, or a classification.',
  }),
  url: z.url().meta({ description: 'Address of the page in this API.' }),
} as const;

export const LandingPageSummary = z
  .strictObject(summaryShape)
  .meta({ id: 'LandingPageSummary', description: 'A landing page that ads were seen to lead to.' });

export const LandingPage = z
  .strictObject({
    ...summaryShape,
    brands: z
      .array(
        z.strictObject({
          brand: BrandReference,
          active_ads: Count.meta({ description: 'Its ads not confirmed inactive that lead here.' }),
          total_ads: Count.meta({ description: 'Its ads ever seen to lead here.' }),
        }),
      )
      .meta({ description: 'Public brands whose ads lead here, most ads first, at most 20.' }),
    description: z.string().nullable().meta({ description: 'Its HTML description; null: not read.' }),
    language: z.string().nullable().meta({
      description: 'Language tag that the page declares, such as `en-US`; null: none, or not read.',
    }),
    canonical_url: z.url().nullable().meta({
      description: 'The address that the page names as its own; null: it names none, or was not read.',
    }),
    http_status: z.int().nullable().meta({
      description: 'HTTP status of the last visit, after redirects; null: never visited, or no answer.',
    }),
    headings: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Headings of the page, in their order; null: not read.' }),
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
  .meta({ id: 'LandingPage', description: 'A landing page with what was read of it.' });
