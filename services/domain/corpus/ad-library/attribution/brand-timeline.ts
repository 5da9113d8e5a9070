import type { BrandSince } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ExpandedLooks, ReplayScan } from '../replay.ts';
import { compareScans } from '../timeline.ts';
import { brandAt, domainsOf, type KnownBrands, NO_SCAN } from './brand-at.ts';

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
