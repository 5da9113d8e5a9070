import type { BrandSince } from '#contracts/events/corpus/ad-library-corrections.ts';
import { destinationDomains } from '#contracts/values/links/ad-destination.ts';
import { isBlank } from './ad-content.ts';
import { END_OF_TIME, compareScans } from './timeline.ts';
import type { ExpandedLooks, ReplayScan } from './replay.ts';

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

export type Placing = {
  readonly scan_id: string;
  readonly observed_at: string;
  /** The newest destination that is not blank. */
  readonly link_url: string | null;
  readonly page_id: string | null;
  readonly scannedFor: string;
};

/** Expects the scans in the order of observation. */
export const placingsOf = (looks: ExpandedLooks, scans: readonly ReplayScan[]): readonly Placing[] => {
  const placings: Placing[] = [];
  for (const { scan_id, observed_at, header } of scans) {
    const look = looks.get(scan_id);
    if (look === undefined || look.kind === 'absent') continue;
    const before = placings.at(-1);
    placings.push({
      scan_id,
      observed_at,
      link_url: look.shown?.link_url ?? before?.link_url ?? null,
      page_id: look.shown?.page_id ?? before?.page_id ?? null,
      scannedFor: before?.scannedFor ?? header.scanned_for,
    });
  }
  return placings;
};

/** `byScan`: a scan showed the ad then. Otherwise a link or a domain became known. */
export type TimelineEntry = BrandSince & { readonly byScan: boolean };

/** By what scans showed and what was known then (rule 10). Knowledge at the time of a scan precedes the scan. */
export const brandsOverTime = (placings: readonly Placing[], known: KnownBrands): readonly TimelineEntry[] =>
  placings.flatMap((placing, index) => {
    const next = placings[index + 1];
    const about = { ...placing, domains: domainsOf(placing.link_url) };
    const { scan_id, observed_at, page_id } = placing;
    const shown = { scan_id, observed_at, brand_id: brandAt(about, placing, known), byScan: true };
    const learned = [
      ...(page_id === null ? [] : (known.links.get(page_id) ?? [])).map((link) => ({
        scan_id: NO_SCAN,
        observed_at: link.observed_at,
      })),
      ...about.domains.flatMap((domain) => known.registrations.get(domain) ?? []),
    ]
      .filter((one) => compareScans(placing, one) < 0 && (!next || compareScans(one, next) <= 0))
      .toSorted(compareScans);
    return [
      shown,
      ...learned.map((one) => ({
        scan_id: one.scan_id,
        observed_at: one.observed_at,
        brand_id: brandAt(about, one, known),
        byScan: false,
      })),
    ];
  });

type ScanKey = { readonly scan_id: string; readonly observed_at: string };

/** `null` before the first sighting. */
export const brandAfter = (brands: readonly BrandSince[], scan: ScanKey): string | null =>
  brands.findLast((since) => compareScans(since, scan) <= 0)?.brand_id ?? null;

/** Uses what was known at the scan. */
export const brandBefore = (brands: readonly TimelineEntry[], scan: ScanKey): string | null =>
  brands.findLast((since) => compareScans(since, scan) < (since.byScan ? 0 : 1))?.brand_id ?? null;

export type SharedAd = {
  readonly before: readonly TimelineEntry[];
  readonly after: readonly TimelineEntry[];
};

/** At all times, with the late observation and without it. */
export const isOfOneBrand = ({ before, after }: SharedAd, brandId: string): boolean =>
  [...before, ...after].every((since) => since.brand_id === brandId);

/** In the order of ids, with brands recorded before. */
export const brandsOf = (
  { before, after }: SharedAd,
  recorded: readonly string[] | undefined,
): readonly string[] =>
  [...new Set([...(recorded ?? []), ...[...before, ...after].map(({ brand_id }) => brand_id)])].toSorted();

/** Only the last change of one key counts. Includes the first. */
const changesBy = (
  brands: readonly BrandSince[],
  keyOf: (since: BrandSince) => string,
): readonly BrandSince[] =>
  brands
    .filter((since, index) => {
      const next = brands[index + 1];
      return next === undefined || keyOf(next) !== keyOf(since);
    })
    .filter(({ brand_id }, index, kept) => brand_id !== kept[index - 1]?.brand_id);

export const changesOf = (brands: readonly BrandSince[]): readonly BrandSince[] =>
  changesBy(brands, ({ observed_at, scan_id }) => `${observed_at}|${scan_id}`).map(
    ({ scan_id, observed_at, brand_id }) => ({ scan_id, observed_at, brand_id }),
  );

/** False when an observation came too late for another decision, so that the ad stays where it is. */
export const areAsShown = (
  recorded: readonly BrandSince[] | undefined,
  owner: string,
  shown: readonly BrandSince[],
): boolean => {
  const changes = changesBy(shown, ({ observed_at }) => observed_at);
  if (recorded === undefined) return changes.every(({ brand_id }) => brand_id === owner);
  const moves = changesBy(recorded, ({ observed_at }) => observed_at);
  return (
    moves.length === changes.length &&
    moves.every(
      ({ brand_id, observed_at }, index) =>
        brand_id === changes[index]?.brand_id && observed_at === changes[index]?.observed_at,
    )
  );
};
