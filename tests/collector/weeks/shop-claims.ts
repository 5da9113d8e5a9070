import { expect } from 'vitest';
import type { Observation } from '#contracts/observations/index.ts';
import { utcDate } from '#contracts/values/time.ts';
import { catalogueOn, shopsOf } from '#deploy/local/demo/generators/storefronts.ts';
import { dayAt } from '#tests/world/library-ads.ts';
import type { Scan } from '../collector-stack.ts';
import type { Checked } from './claims.ts';
import { isIncompleteShop, type PlayedShopFault } from './played-faults.ts';
import type { PlayedBrand, Weeks } from './played-weeks.ts';

export const shopScans = (observations: readonly Observation[]): ReadonlyMap<string, readonly Scan[]> => {
  const pages = Map.groupBy(
    observations.filter((one) => one.type === 'storefront.scan'),
    ({ scan_id }) => scan_id,
  );
  const scans = observations
    .filter((one) => one.type === 'storefront.scan_end')
    .map((end) => ({ end, products: (pages.get(end.scan_id) ?? []).flatMap(({ products }) => products) }));
  return Map.groupBy(scans, ({ end }) => end.domain);
};

/** Complete scans show the catalogue of the day. A list that moved, did not end or was short is never complete. */
export const checkShop = (
  { placed }: Weeks,
  brand: PlayedBrand,
  scans: readonly Scan[],
  faults: readonly PlayedShopFault[],
): Checked => {
  const checked = { completeScans: 0, partialScans: 0, claims: 0, unseen: 0 };
  const hasShop = shopsOf(placed.world).includes(brand.brand);
  for (const { end, products } of scans) {
    expect(hasShop, `${brand.brand.domain} has a shop`).toBe(true);
    const day = dayAt(placed, Date.parse(end.scanned_at));
    const listed = catalogueOn(placed.world, brand.brand, day);
    const priceOf = (list: typeof products): ReadonlyMap<string, string> =>
      new Map(list.map(({ id, variants }) => [id, JSON.stringify(variants.map(({ price }) => price))]));
    const world = priceOf(listed);
    const shown = priceOf(products);
    const where = `${brand.brand.domain} at ${end.scanned_at}`;
    for (const [id, prices] of shown) expect(world.get(id), where).toBe(prices);
    if (end.complete) expect([...shown.keys()].toSorted(), where).toEqual([...world.keys()].toSorted());
    if (isIncompleteShop(faults, brand.brand.domain, utcDate(end.scanned_at))) {
      expect(end.complete, where).toBe(false);
    }
    if (end.complete) checked.completeScans += 1;
    else checked.partialScans += 1;
    checked.claims += shown.size;
  }
  return checked;
};
