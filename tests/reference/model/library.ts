import type { Scan, World } from '../world.ts';
import { type AdState, statesOf } from './ad-states.ts';
import { brandOf, linksAt } from './attribution.ts';
import { latest, scansOf, shows } from './observations.ts';

/** An ad after a scan, and before it; `null` before its first sighting. */
export type AdAfter = {
  readonly ad: string;
  readonly before: AdState | null;
  readonly state: AdState;
  /** The brand as known at the scan, after and before it. */
  readonly brand: string;
  readonly brandBefore: string | null;
  readonly page: string | null;
};

export type Look = { readonly scan: Scan; readonly ads: readonly AdAfter[] };

export type Library = {
  readonly world: World;
  readonly scans: readonly Scan[];
  readonly adIds: readonly string[];
  readonly states: ReadonlyMap<string, readonly (AdState | null)[]>;
  readonly looks: ReadonlyMap<string, readonly Look[]>;
};

/**
 * Decision: a scan looks at the brand that it was made for, at the brands of its ads before and after it, and, if it is
 * complete, at the brands that a covered page is linked to or that have a live ad on one.
 */
const isLook = (brand: string, scan: Scan, ads: readonly AdAfter[], world: World): boolean => {
  const isCovered = (page: string | null): boolean => scan.complete && scan.pages.includes(page ?? '');
  const own = ads.filter((one) => one.brand === brand || one.brandBefore === brand);
  return (
    scan.brand === brand ||
    own.some(({ ad }) => shows(scan, ad)) ||
    own.some(({ before, page }) => before && before.status !== 'inactive' && isCovered(page)) ||
    linksAt(world, scan.at).some((link) => link.brand === brand && isCovered(link.page))
  );
};

export const libraryOf = (world: World): Library => {
  const scans = scansOf(world);
  const adIds = [...new Set(scans.flatMap(({ ads }) => ads.map(({ ad }) => ad)))].toSorted();
  const states = new Map(adIds.map((ad) => [ad, statesOf(ad, scans)]));
  const looks = new Map(world.brands.map((brand): [string, Look[]] => [brand, []]));
  scans.forEach((scan, index) => {
    const until = scans.slice(0, index + 1);
    const after = adIds.flatMap((ad): AdAfter[] => {
      const state = states.get(ad)?.[index];
      if (!state) return [];
      const before = states.get(ad)?.[index - 1] ?? null;
      const brand = brandOf(ad, until, scan, world);
      const brandBefore = before && brandOf(ad, scans.slice(0, index), scan, world);
      return [{ ad, state, before, brand, brandBefore, page: latest(ad, until, 'page') }];
    });
    for (const [brand, ofBrand] of looks)
      if (isLook(brand, scan, after, world))
        ofBrand.push({ scan, ads: after.filter((one) => one.brand === brand) });
  });
  return { world, scans, adIds, states, looks };
};
