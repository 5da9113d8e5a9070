import type { Random } from '#deploy/local/demo/world/seeded-random.ts';
import { libraryAdsAt } from '#tests/world/library-ads.ts';
import { ARCHIVE_COUNTRIES, DOUBTED_OVER_ADS } from '#domain/collecting/archive-coverage.ts';
import type { PlayedBrand, Weeks } from './played-weeks.ts';

/** `pageId`: the page that the fault is about, if any. */
export type PlayedFault = { readonly name: string; readonly pageId: string; readonly on: string };

const OF_A_PAGE: readonly string[] = ['refused page', 'forgotten page', 'page forgotten all day'];

/** Whether the library refused a page on that day or before: the collector leaves such a page out for 30 days. */
export const isRefused = (faults: readonly PlayedFault[], pageId: string, on: string): boolean =>
  faults.some((fault) => fault.name === 'refused page' && fault.pageId === pageId && fault.on <= on);

/** The collector reads an empty page that had over `DOUBTED_OVER_ADS` ads again an hour later. */
export const isForgotten = (
  faults: readonly PlayedFault[],
  pageId: string,
  on: string,
  adsBefore: number,
): boolean =>
  faults.some(
    (fault) =>
      fault.pageId === pageId &&
      fault.on === on &&
      (fault.name === 'page forgotten all day' ||
        (fault.name === 'forgotten page' && adsBefore <= DOUBTED_OVER_ADS)),
  );

const adsRunning = ({ placed }: Weeks, { pages: [page] }: PlayedBrand, timeMs: number): number => {
  const ads = page === undefined ? [] : [...libraryAdsAt(placed, page, timeMs)];
  const isShown = ({ countries }: (typeof ads)[number]): boolean =>
    countries.some((country) => ARCHIVE_COUNTRIES.includes(country));
  return ads.filter((ad) => ad.isRunning && isShown(ad)).length;
};

/**
 * Chooses the brand whose first page a fault is about. A forgotten page has enough ads to be missed. A refused page has
 * ads, and another page keeps scans of its brand complete. No page gets two faults, because ads of a page that is
 * forgotten on two days have stopped.
 */
export const chooseBrand = (
  weeks: Weeks,
  random: Random,
  names: readonly string[],
  before: readonly PlayedFault[],
): PlayedBrand => {
  const used = new Set(before.filter((fault) => OF_A_PAGE.includes(fault.name)).map(({ pageId }) => pageId));
  const free = weeks.brands.filter(({ pages: [page] }) => page !== undefined && !used.has(page.id));
  const nowMs = weeks.clock.now().getTime();
  const missed = free.filter((brand) => adsRunning(weeks, brand, nowMs) > 2 * DOUBTED_OVER_ADS);
  if (names.includes('forgotten page') && missed.length > 0) return random.pick(missed);
  const withOthers = free.filter(({ pages }) => pages.length > 1);
  const leftOut = withOthers.filter((brand) => adsRunning(weeks, brand, nowMs) > 0);
  if (names.includes('refused page') && leftOut.length > 0) return random.pick(leftOut);
  return random.pick(free.length > 0 ? free : weeks.brands);
};
