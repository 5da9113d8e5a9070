import type { BrandSince } from '#contracts/events/corpus/ad-library-corrections.ts';
import { destinationDomains } from '#contracts/values/links/ad-destination.ts';
import { isBlank } from '../ad-content.ts';
import { compareScans, END_OF_TIME } from '../timeline.ts';

/** To which brand an ad belongs, by the links and domains known at a time (rule 10). */

/** Id that stands for an observation which is not a scan. It precedes all scans of the same time. */
export const NO_SCAN = '00000000-0000-0000-0000-000000000000';

/** A link between a page and a brand as observed at a time, or its end. */
export type KnownLink = {
  readonly brand_id: string;
  readonly observed_at: string;
  readonly linked: boolean;
  readonly confidence: number;
};

/** Links of pages and registrations of domains, with the times at which they were observed. */
export type KnownBrands = {
  /** The links of each page, in the order of observation. */
  readonly links: ReadonlyMap<string, readonly KnownLink[]>;
  /** By which scan, or other observation, each domain became that of a brand. */
  readonly registrations: ReadonlyMap<string, BrandSince>;
};

/** Holds what the brand of an ad depends on. */
export type Attributable = {
  /** Domains to which the destination may belong, the longest first; see `domainsOf`. */
  readonly domains: readonly string[];
  readonly page_id: string | null;
  /** The brand that the first scan of the ad was made for. */
  readonly scannedFor: string;
};

/** A place in the order of observation. */
export type Moment = { readonly observed_at: string; readonly scan_id: string };

/** The moment after all that is recorded. */
export const NOW: Moment = { observed_at: END_OF_TIME, scan_id: NO_SCAN };

/** Returns the domains to which a destination may belong, the longest first: its host and the domains above it. */
export const domainsOf = (link: string | null): readonly string[] =>
  link === null || isBlank(link) ? [] : destinationDomains(link);

/** Returns the brand to which the page was linked at a time with the highest confidence. */
const linkedBrand = (links: readonly KnownLink[], time: string): string | undefined => {
  const last = new Map<string, KnownLink>();
  for (const link of links) if (link.observed_at <= time) last.set(link.brand_id, link);
  const [best] = [...last.values()]
    .filter(({ linked }) => linked)
    .toSorted((a, b) => b.confidence - a.confidence || (a.brand_id < b.brand_id ? -1 : 1));
  return best?.brand_id;
};

/**
 * Returns the brand of an ad by what was known at a moment: the brand with the longest domain that the destination belongs
 * to, else the brand that the page was linked to with the highest confidence, else the brand of the first scan.
 */
export const brandAt = (
  { domains, page_id, scannedFor }: Attributable,
  moment: Moment,
  { links, registrations }: KnownBrands,
): string => {
  const byDestination = domains
    .map((domain) => registrations.get(domain))
    .find((since) => since !== undefined && compareScans(since, moment) <= 0);
  if (byDestination) return byDestination.brand_id;
  const ofPage = page_id === null ? undefined : links.get(page_id);
  return (ofPage && linkedBrand(ofPage, moment.observed_at)) ?? scannedFor;
};

/** Returns the moments after `since` at which the brand of the ad may have changed, and the present one. */
export const momentsOf = (
  { domains, page_id }: Attributable,
  since: Moment,
  { links, registrations }: KnownBrands,
): readonly Moment[] => [
  since,
  ...((page_id === null ? undefined : links.get(page_id)) ?? [])
    .map(({ observed_at }) => ({ observed_at, scan_id: NO_SCAN }))
    .filter(({ observed_at }) => observed_at > since.observed_at),
  ...domains
    .flatMap((domain) => registrations.get(domain) ?? [])
    .filter((one) => compareScans(since, one) < 0),
  NOW,
];
