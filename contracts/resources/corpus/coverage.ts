import { z } from 'zod';
import { CalendarDate, Count, Timestamp } from '#contracts/values/primitives.ts';
import { FigureNameField } from '#contracts/values/figures.ts';
import { AdPage, PageId } from './ads/creative.ts';
import { BrandReference } from './brand.ts';
import { PageRoleName, SOCIAL_PAGES_MAX } from './social-page.ts';

/** UTC days, the present one included. */
export const COVERAGE_DAYS = 28;
/** Days in which the last complete scan of a page is looked for. */
export const COMPLETE_SCAN_DAYS = 366;
export const INCOMPLETE_SCANS_SHOWN_MAX = 20;
export const NARROWING_SCANS_SHOWN_MAX = 100;
export const FIGURE_DAYS_MAX = 366;

/** Observations of a brand that this service can collect. */
export const SOURCES = {
  library: 'scans of the ad library that count for the brand',
  profile: 'profile of the brand',
  page_profiles: 'profiles of linked pages',
  landing_pages: 'contents of pages that ads lead to',
  media_files: 'files of ads',
  site: "scans of the site's tools",
  shop: 'catalogue of the shop',
  traffic: 'estimates of traffic',
  audience: 'estimates of the audience',
} as const satisfies Readonly<Record<string, string>>;
export type Source = keyof typeof SOURCES;
export const SOURCE_NAMES = Object.keys(SOURCES) as [Source, ...Source[]];

const ScannedCountry = z
  .string()
  .meta({ description: 'Country that the scan asked for; `ALL`: all countries at once.' });
const Collector = z.string().meta({ description: 'Collector that made the scan.' });

const CoveredPage = z
  .strictObject({
    page: AdPage,
    role: PageRoleName,
    linked_since: Timestamp.nullable().meta({
      description: 'Time of the observation that began the present link; null: not known.',
    }),
    complete_scans: z
      .array(
        z.strictObject({
          country: ScannedCountry,
          scanned_at: Timestamp.meta({ description: 'Time of the last complete scan of the page there.' }),
          collector: Collector,
        }),
      )
      .meta({
        description: `For each country the last complete scan of the page in the last ${COMPLETE_SCAN_DAYS} days; empty: none.`,
      }),
  })
  .meta({ id: 'CoveredPage', description: 'A linked page, and the complete scans that covered it last.' });

const SourceCoverage = z
  .strictObject({
    source: z.enum(SOURCE_NAMES).meta({
      description: Object.entries(SOURCES)
        .map(([name, text]) => `\`${name}\`: ${text}`)
        .join('; '),
    }),
    last_observed_on: CalendarDate.nullable().meta({
      description:
        'UTC day of the newest observation, for `audience` the day that it estimates; null: never observed since the brand is known.',
    }),
  })
  .meta({ id: 'SourceCoverage', description: 'When a source was last observed.' });

const IncompleteScan = z
  .strictObject({
    scanned_at: Timestamp.meta({ description: 'Time of the scan.' }),
    page_ids: z.array(PageId).meta({ description: 'Linked pages that it did not read to the end.' }),
    countries: z.array(ScannedCountry).meta({ description: 'Countries that it asked for.' }),
    collector: Collector,
  })
  .meta({ id: 'IncompleteScan', description: 'A scan that left ads out. It proves no absence.' });

export const BrandCoverage = z
  .strictObject({
    brand: BrandReference,
    known_since: Timestamp.nullable().meta({
      description: 'Time of the observation that registered the brand; null: not known.',
    }),
    pages: z.array(CoveredPage).meta({
      description: `Pages linked to the brand now, by id, at most ${SOCIAL_PAGES_MAX}.`,
    }),
    pages_total: Count.meta({ description: 'Number of pages linked to the brand.' }),
    reliable_days: z
      .strictObject({
        from: CalendarDate.meta({ description: 'First day of the window.' }),
        to: CalendarDate.meta({ description: 'Last day of the window: today.' }),
        count: Count.meta({ description: 'Number of reliable days.' }),
        dates: z.array(CalendarDate).meta({ description: 'Reliable days, oldest first.' }),
      })
      .meta({
        description: `Reliable days of the last ${COVERAGE_DAYS} UTC days. The window ends with today, not with \`as_of\`, because coverage says what is known now.`,
      }),
    sources: z.array(SourceCoverage).meta({ description: 'Every source that this service can collect.' }),
    incomplete_scans: z
      .strictObject({
        count: Count.meta({ description: 'Number of incomplete scans in the same window.' }),
        newest: z
          .array(IncompleteScan)
          .max(INCOMPLETE_SCANS_SHOWN_MAX)
          .meta({
            description: `Newest first, at most ${INCOMPLETE_SCANS_SHOWN_MAX}.`,
          }),
      })
      .meta({
        description: 'Scans for the brand, or of its linked pages, that did not read the library to the end.',
      }),
  })
  .meta({ id: 'BrandCoverage', description: 'Observations of a brand, and the gaps between them.' });

const boundsShape = {
  figure: FigureNameField,
  rule: z.string().meta({ description: 'How the figure is counted.' }),
  from: CalendarDate.nullable().meta({ description: 'First day of the window; null: a figure without.' }),
  to: CalendarDate.nullable().meta({ description: 'Last day of the window; null: a figure without.' }),
  value: Count.meta({ description: 'The figure as it was observed.' }),
  at_least: Count.meta({ description: 'The true figure is not below.' }),
  at_least_reason: z.string().meta({ description: 'Why it is not below.' }),
  at_most: Count.nullable().meta({
    description:
      'The true figure is not above; null: nothing bounds it, because something was not looked at.',
  }),
  at_most_reason: z.string().meta({ description: 'Why it is not above, or what was not looked at.' }),
} as const;

export const FigureBounds = z
  .strictObject({
    ...boundsShape,
    pages: Count.meta({ description: 'Number of linked pages that the bounds are about.' }),
    countries: z.array(ScannedCountry).meta({
      description: `Countries that the bounds are about: those that scans of the linked pages asked for, up to ${COVERAGE_DAYS} days before the first day that counts.`,
    }),
    uncovered_days: z.array(CalendarDate).meta({
      description:
        'Days that count and were not reliable, or on which no complete scan covered a page in a country. Days before the window count where what was seen then decides what is new or stopped in it.',
    }),
    narrowed_by: z
      .array(
        z.strictObject({
          page_id: PageId,
          country: ScannedCountry,
          day: CalendarDate.meta({ description: 'Day of which the scan is missing.' }),
        }),
      )
      .max(NARROWING_SCANS_SHOWN_MAX)
      .meta({
        description: `Complete scans that would narrow the bounds, at most ${NARROWING_SCANS_SHOWN_MAX}, by day, page and country. Those of past days count if a collector made them and sends them late. A figure of the present is also narrowed by complete scans of all pages on a later day.`,
      }),
    narrowed_by_total: Count.meta({ description: 'Number of such scans.' }),
  })
  .meta({ id: 'FigureBounds', description: 'Bounds of the true figure, by what was observed.' });
export type FigureBounds = z.infer<typeof FigureBounds>;

export const CLAIM_COMPARISONS = ['at_least', 'at_most', 'equals', 'more_than', 'less_than'] as const;
export type ClaimComparison = (typeof CLAIM_COMPARISONS)[number];

const comparison = z
  .enum(CLAIM_COMPARISONS)
  .meta({ id: 'ClaimComparison', description: 'How the claim compares the figure with a number.' });

export const ClaimToCheck = z
  .strictObject({
    brand: z
      .string()
      .max(253)
      .regex(/^[A-Za-z0-9.\-\u0080-\uffff]+$/, 'a uuid, slug or domain')
      .meta({ description: 'Uuid, slug or domain of the brand.' }),
    figure: FigureNameField,
    comparison,
    value: Count.meta({ description: 'Number that the claim states.' }),
    from: CalendarDate.optional().meta({ description: 'First day, for `new_ads` and `retired_ads`.' }),
    to: CalendarDate.optional().meta({ description: 'Last day, for `new_ads` and `retired_ads`.' }),
  })
  .meta({ id: 'ClaimToCheck', description: 'A claim about a figure of a brand.' });

export const CheckedClaim = z
  .strictObject({
    brand: BrandReference,
    comparison,
    claimed: Count.meta({ description: 'Number that the claim states.' }),
    verdict: z.enum(['supported', 'contradicted', 'not_observable']).meta({
      description:
        '`supported`: every number within the bounds satisfies the claim; `contradicted`: none does; `not_observable`: what was observed decides neither.',
    }),
    reason: z.string().meta({ description: 'Why, in a sentence.' }),
    ...boundsShape,
    proof_url: z.url().meta({
      description: 'Address of the proof of the figure as of the time of this answer.',
    }),
  })
  .meta({ id: 'CheckedClaim', description: 'Verdict of the observations on a claim.' });
