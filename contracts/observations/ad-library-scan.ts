import { z } from 'zod';
import {
  AdFormat,
  CalendarDate,
  Country,
  LibraryId,
  ObservedDomain,
  Timestamp,
} from '../values/primitives.ts';
import { cutKeyText, cutText, uncutText } from '../values/text.ts';
import { withBelievableDates } from './ad-dates.ts';
import { AD_TEXT_LIMITS, shortenAd } from './shorten-ad.ts';

/** A collector with more data splits the scan. `shorten-ad.ts` has the limits of one ad. */
export const CHUNK_ADS_MAX = 250;
export const SCAN_CHUNKS_MAX = 100_000;
export const SCAN_PAGES_MAX = 10_000;

/** The URL expires, so it identifies nothing. */
export const AdMedia = z.strictObject({
  kind: z.enum(['image', 'video']),
  url: uncutText().nullable(),
  poster_url: uncutText().nullable(),
});

export const AdCard = z.strictObject({
  body: uncutText().nullable(),
  title: uncutText().nullable(),
  link_description: uncutText().nullable(),
  cta_text: uncutText().nullable(),
  link_url: uncutText().nullable(),
});

/** A branded-content ad names a partner in addition to its page ("… with …"), by id, by name, or both. */
export const BrandedContent = z
  .strictObject({ page_id: LibraryId.nullable(), page_name: uncutText().trim().min(1).nullable() })
  .refine(({ page_id, page_name }) => page_id !== null || page_name !== null, {
    message: 'names the partner by id, by name, or both',
  });
export type BrandedContent = z.infer<typeof BrandedContent>;

/** `null` (not shown by this scan) overwrites nothing. Unknown fields are rejected: money and reach cannot enter. */
export const UncutAd = z.strictObject({
  ad_id: LibraryId,
  page_id: LibraryId.nullable(),
  page_name: uncutText().nullable(),
  is_active: z.boolean().nullable(),
  started_on: CalendarDate.nullable(),
  /** The last-seen day of an active ad does not belong here. */
  stopped_on: CalendarDate.nullable(),
  /** Absent: the country of the scan, when it requested exactly one. A scan of several countries says none. */
  countries: z.array(Country).max(260).optional(),
  body: uncutText().nullable(),
  title: uncutText().nullable(),
  link_description: uncutText().nullable(),
  caption: uncutText().nullable(),
  cta_type: uncutText().nullable(),
  cta_text: uncutText().nullable(),
  link_url: uncutText().nullable(),
  format: AdFormat.nullable(),
  platforms: z.array(uncutText()).nullable(),
  languages: z.array(uncutText()).nullable(),
  media: z.array(AdMedia),
  cards: z.array(AdCard),
  versions: z.array(AdCard),
  /** Absent or `null` means unknown: most sources do not show it. */
  branded_content: BrandedContent.nullable().optional(),
});

/** Cut to its limits (`shorten-ad.ts`), not rejected for its length. Parsing the result again changes nothing. */
export const ObservedAd = UncutAd.transform((ad) => shortenAd(ad).ad);
export type ObservedAd = z.infer<typeof ObservedAd>;

export const BLANK_AD: Omit<ObservedAd, 'ad_id'> = {
  page_id: null,
  page_name: null,
  is_active: null,
  started_on: null,
  stopped_on: null,
  body: null,
  title: null,
  link_description: null,
  caption: null,
  cta_type: null,
  cta_text: null,
  link_url: null,
  format: null,
  platforms: null,
  languages: null,
  media: [],
  cards: [],
  versions: [],
};

export const CoveredPage = z.strictObject({
  page_id: LibraryId,
  page_name: uncutText()
    .overwrite((name) => cutText(name, AD_TEXT_LIMITS.page_name))
    .nullable(),
});

/** Absence of an ad has a meaning only on these pages, in these countries, and in a complete scan. */
export const ScanCoverage = z.strictObject({
  pages: z.array(CoveredPage).max(SCAN_PAGES_MAX),
  /** Requested from the library; `["ALL"]` for all of them. */
  countries: z
    .array(z.union([Country, z.literal('ALL')]))
    .min(1)
    .max(260),
  /** True only when the library was read to its end for every page. */
  complete: z.boolean(),
  collector: cutKeyText(100),
});
export type ScanCoverage = z.infer<typeof ScanCoverage>;

const scanKey = {
  /** Derived by the sender from its input, so that a repeated scan has the same id. */
  scan_id: z.uuid(),
  brand_domain: ObservedDomain,
  scanned_at: Timestamp,
};

/** Chunks may arrive in any order and more than once. Dates that cannot be true become unknown (`ad-dates.ts`). */
export const AdLibraryScanChunk = z
  .strictObject({
    type: z.literal('ad_library.scan'),
    ...scanKey,
    /** From 0. */
    chunk: z
      .int()
      .min(0)
      .max(SCAN_CHUNKS_MAX - 1),
    ads: z.array(ObservedAd).min(1).max(CHUNK_ADS_MAX),
  })
  .overwrite((chunk) => ({
    ...chunk,
    ads: chunk.ads.map((ad) => withBelievableDates(ad, chunk.scanned_at).ad),
  }));
export type AdLibraryScanChunk = z.infer<typeof AdLibraryScanChunk>;

/** Decisions start only now. `chunks` is 0 for a scan that saw no ad. */
export const AdLibraryScanEnd = z.strictObject({
  type: z.literal('ad_library.scan_end'),
  ...scanKey,
  chunks: z.int().min(0).max(SCAN_CHUNKS_MAX),
  coverage: ScanCoverage,
});
export type AdLibraryScanEnd = z.infer<typeof AdLibraryScanEnd>;
