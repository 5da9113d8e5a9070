import type { BrandSince } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ExpandedLooks, ReplayScan } from '../replay.ts';
import { compareScans } from '../timeline.ts';

/** The brands of an ad in the order of observation (rule 10). */

/** Holds what decides about the brand of an ad, as known at one scan. */
export type Placing = {
  readonly scan_id: string;
  readonly observed_at: string;
  /** The newest destination that is not blank. */
  readonly link_url: string | null;
  readonly page_id: string | null;
  /** The brand that the first scan of the ad was made for. */
  readonly scannedFor: string;
};

/** Returns what decides about the ad's brand at each scan that showed it. Expects the scans in the order of observation. */
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

/** Returns the brand to which the ad belonged after a scan; `null` before its first sighting. */
export const brandAfter = (
  brands: readonly BrandSince[],
  scan: { readonly scan_id: string; readonly observed_at: string },
): string | null => brands.findLast((since) => compareScans(since, scan) <= 0)?.brand_id ?? null;

/** An ad that belongs to several brands in the course of time, without a late scan and with it. */
export type SharedAd = {
  readonly before: readonly BrandSince[];
  readonly after: readonly BrandSince[];
};

/** True when the ad belongs to the brand all the time, with the late scan and without it. */
export const isOfOneBrand = ({ before, after }: SharedAd, brandId: string): boolean =>
  [...before, ...after].every((since) => since.brand_id === brandId);

/** Returns the ids of all brands of the ad, with those recorded before, in the order of ids. */
export const brandsOf = (
  { before, after }: SharedAd,
  recorded: readonly string[] | undefined,
): readonly string[] =>
  [...new Set([...(recorded ?? []), ...[...before, ...after].map(({ brand_id }) => brand_id)])].toSorted();

/** Returns the changes of the brand, the first included. */
export const changesOf = (brands: readonly BrandSince[]): readonly BrandSince[] =>
  brands.filter(({ brand_id }, index) => brand_id !== brands[index - 1]?.brand_id);

/**
 * True when the recorded moves of an ad are those that follow from what its scans showed. Otherwise a link or a domain
 * became known later, and the brands of earlier days hold as they were known then.
 */
export const areAsShown = (
  recorded: readonly BrandSince[] | undefined,
  owner: string,
  shown: readonly BrandSince[],
): boolean => {
  const changes = changesOf(shown);
  if (recorded === undefined) return changes.every(({ brand_id }) => brand_id === owner);
  return (
    recorded.length === changes.length &&
    recorded.every(
      ({ brand_id, scan_id }, index) =>
        brand_id === changes[index]?.brand_id && scan_id === changes[index]?.scan_id,
    )
  );
};
