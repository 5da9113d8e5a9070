import type { BrandSince } from '#contracts/events/corpus/ad-library-corrections.ts';
import { destinationDomains } from '#contracts/values/links/ad-destination.ts';
import { isBlank } from '../ad-content.ts';
import { compareScans, END_OF_TIME } from '../timeline.ts';

/** Stands for an observation which is not a scan. It precedes all scans of the same time. */
export const NO_SCAN = '00000000-0000-0000-0000-000000000000';

export type KnownLink = {
  readonly brand_id: string;
  readonly observed_at: string;
  readonly linked: boolean;
  readonly confidence: number;
};

export type KnownBrands = {
  readonly links: ReadonlyMap<string, readonly KnownLink[]>;
  readonly registrations: ReadonlyMap<string, BrandSince>;
};

export type Attributable = {
  readonly domains: readonly string[];
  readonly page_id: string | null;
  readonly scannedFor: string;
};

export type Moment = { readonly observed_at: string; readonly scan_id: string };

export const NOW: Moment = { observed_at: END_OF_TIME, scan_id: NO_SCAN };

/** Host and the domains above it, the longest first. */
export const domainsOf = (link: string | null): readonly string[] =>
  link === null || isBlank(link) ? [] : destinationDomains(link);

/** The link with the highest confidence at that time counts. */
const linkedBrand = (links: readonly KnownLink[], time: string): string | undefined => {
  const last = new Map<string, KnownLink>();
  for (const link of links) if (link.observed_at <= time) last.set(link.brand_id, link);
  const [best] = [...last.values()]
    .filter(({ linked }) => linked)
    .toSorted((a, b) => b.confidence - a.confidence || (a.brand_id < b.brand_id ? -1 : 1));
  return best?.brand_id;
};

/** Precedence: longest domain of the destination, linked page with the highest confidence, first scan (rule 10). */
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

/** Moments after `since` at which the brand may have changed, and the present one. */
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
