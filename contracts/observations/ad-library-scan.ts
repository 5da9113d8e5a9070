import { z } from 'zod';
import {
  AdFormat,
  Country,
  LibraryId,
  ObservedDate,
  ObservedDomain,
  Timestamp,
} from '../values/primitives.ts';
import { observedText, trimmedText } from '../values/text.ts';

/** Limits of a scan. A collector with more data splits the scan. */
export const AD_TEXT_MAX_CHARACTERS = 20_000;
export const AD_URL_MAX_CHARACTERS = 8_192;
export const AD_CARDS_MAX = 30;
export const AD_VERSIONS_MAX = 50;
export const CHUNK_ADS_MAX = 250;
export const SCAN_CHUNKS_MAX = 100_000;
export const SCAN_PAGES_MAX = 10_000;
/**
 * Maximum bytes of one ad as JSON. An event that holds the ad before and after a change still fits into one append.
 */
export const AD_MAX_BYTES = 430_000;
/**
 * Ads whose long texts have fewer characters need no measuring, which is nearly all of them. JSON needs at most 6
 * bytes per character; 10,000 characters are left for the other fields.
 */
const AD_SHORT_CHARACTERS = AD_MAX_BYTES / 6 - 10_000;

const Text = observedText(AD_TEXT_MAX_CHARACTERS);
const Link = observedText(AD_URL_MAX_CHARACTERS);
const PageName = observedText(500);

/** An image or video as the library showed it. The URL expires, so it identifies nothing. */
export const AdMedia = z.strictObject({
  kind: z.enum(['image', 'video']),
  url: Link.nullable(),
  poster_url: Link.nullable(),
});

/** One card of a carousel, or one version of an ad that the library shows under one id. */
export const AdCard = z.strictObject({
  body: Text.nullable(),
  title: Text.nullable(),
  link_description: Text.nullable(),
  cta_text: observedText(200).nullable(),
  link_url: Link.nullable(),
});

/**
 * The partner that a branded-content ad names in addition to the page that runs it ("… with …"). The library names
 * the partner by id, by name, or both.
 */
export const BrandedContent = z
  .strictObject({ page_id: LibraryId.nullable(), page_name: trimmedText(500).nullable() })
  .refine(({ page_id, page_name }) => page_id !== null || page_name !== null, {
    message: 'names the partner by id, by name, or both',
  });
export type BrandedContent = z.infer<typeof BrandedContent>;

const lengthOf = (texts: readonly (string | null)[]): number =>
  texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);

const fitsIntoEvents = (ad: object): boolean => {
  const { body, title, link_description, media, cards, versions } = ad as {
    readonly [Field in 'body' | 'title' | 'link_description']: string | null;
  } & Readonly<Record<'media' | 'cards' | 'versions', readonly object[]>>;
  const parts = [...media, ...cards, ...versions].flatMap((part): (string | null)[] => Object.values(part));
  if (lengthOf([body, title, link_description]) + lengthOf(parts) < AD_SHORT_CHARACTERS) return true;
  return new TextEncoder().encode(JSON.stringify(ad)).length <= AD_MAX_BYTES;
};

/**
 * One ad as one scan saw it. `null` means that this scan did not show the field, not that it has no value; it
 * overwrites nothing. There are no fields for money or reach. Unknown fields are rejected, so such data cannot
 * enter.
 */
export const ObservedAd = z
  .strictObject({
    ad_id: LibraryId,
    page_id: LibraryId.nullable(),
    page_name: PageName.nullable(),
    /** Whether the library called the ad active. `null` when the source does not say. */
    is_active: z.boolean().nullable(),
    started_on: ObservedDate.nullable(),
    /** A stop date that the library gave. The last-seen day of an active ad does not belong here. */
    stopped_on: ObservedDate.nullable(),
    body: Text.nullable(),
    title: Text.nullable(),
    link_description: Text.nullable(),
    caption: observedText(2_000).nullable(),
    cta_type: observedText(100).nullable(),
    cta_text: observedText(200).nullable(),
    link_url: Link.nullable(),
    format: AdFormat.nullable(),
    platforms: z.array(observedText(40)).max(20).nullable(),
    languages: z.array(observedText(20)).max(50).nullable(),
    media: z.array(AdMedia).max(AD_CARDS_MAX),
    cards: z.array(AdCard).max(AD_CARDS_MAX),
    versions: z.array(AdCard).max(AD_VERSIONS_MAX),
    /** Absent or `null` means unknown: most sources do not show it. */
    branded_content: BrandedContent.nullable().optional(),
  })
  .refine(fitsIntoEvents, `an ad is at most ${AD_MAX_BYTES} bytes long as JSON`);
export type ObservedAd = z.infer<typeof ObservedAd>;

export const CoveredPage = z.strictObject({
  page_id: LibraryId,
  page_name: PageName.nullable(),
});

/**
 * Scope of a scan. Absence of an ad has a meaning only on these pages, in these countries, and in a complete scan.
 */
export const ScanCoverage = z.strictObject({
  pages: z.array(CoveredPage).max(SCAN_PAGES_MAX),
  /** Countries that the library was queried for; `["ALL"]` for all of them. */
  countries: z
    .array(z.union([Country, z.literal('ALL')]))
    .min(1)
    .max(260),
  /** True only when the library was read to its end for every page listed. */
  complete: z.boolean(),
  /** Name and wording version of the collector. Two collectors may word the same copy differently. */
  collector: observedText(100).min(1),
});
export type ScanCoverage = z.infer<typeof ScanCoverage>;

const scanKey = {
  /** Id of the scan, derived by the sender from its input, so that a repeated scan has the same id. */
  scan_id: z.uuid(),
  brand_domain: ObservedDomain,
  scanned_at: Timestamp,
};

/** A part of a scan's ads. Chunks may arrive in any order and more than once. */
export const AdLibraryScanChunk = z.strictObject({
  type: z.literal('ad_library.scan'),
  ...scanKey,
  chunk: z.int().min(0).max(SCAN_CHUNKS_MAX),
  ads: z.array(ObservedAd).min(1).max(CHUNK_ADS_MAX),
});
export type AdLibraryScanChunk = z.infer<typeof AdLibraryScanChunk>;

/** Closes a scan; decisions start only now. `chunks` is the number of chunks, 0 for a scan that saw no ad. */
export const AdLibraryScanEnd = z.strictObject({
  type: z.literal('ad_library.scan_end'),
  ...scanKey,
  chunks: z.int().min(0).max(SCAN_CHUNKS_MAX),
  coverage: ScanCoverage,
});
export type AdLibraryScanEnd = z.infer<typeof AdLibraryScanEnd>;
