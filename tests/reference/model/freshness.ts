import type { FreshnessFigures, Scan } from '../world.ts';
import { isOfBrand, isReliable } from './days.ts';
import type { Library } from './library.ts';
import { DAY_MS, dayOf } from './observations.ts';

/** Days between scans of a brand that no workspace tracks, as in all worlds. */
const CENSUS_DAYS = 30;

/**
 * Rule 9. Decision: a scan of the brand counts from the scan by which the day is reliable. Another brand's scan counts
 * only if the day is reliable by it, as when it covers a page that was linked earlier that day.
 */
const isReliableScan = (brand: string, scan: Scan, { world, scans }: Library): boolean => {
  const until = scans.slice(0, scans.indexOf(scan) + 1).filter(({ at }) => dayOf(at) === dayOf(scan.at));
  return (
    scan.complete &&
    isReliable(brand, until, world) &&
    (isOfBrand(brand, scan, world) || !isReliable(brand, until.slice(0, -1), world))
  );
};

export const freshnessFigures = (library: Library): Record<string, FreshnessFigures> => {
  const freshness: Record<string, FreshnessFigures> = {};
  for (const brand of library.world.brands) {
    const reliable = library.scans.filter((scan) => isReliableScan(brand, scan, library));
    // Decision: a scan for another brand that shows or covers something of this one counts only if it is reliable for it.
    const last = library.scans.findLast((scan) => scan.brand === brand || reliable.includes(scan));
    if (!last) continue;
    freshness[brand] = {
      as_of: last.at,
      last_reliable_at: reliable.at(-1)?.at ?? null,
      next_due: new Date(Date.parse(last.at) + CENSUS_DAYS * DAY_MS).toISOString(),
      freshness_tier: 'census',
    };
  }
  return freshness;
};
