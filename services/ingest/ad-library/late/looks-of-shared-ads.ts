import { correctAds } from '#domain/corpus/ad-library/late-scan.ts';
import { emptyLateTotals } from '#domain/corpus/ad-library/late/replay-both.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { loadAds, type OpenLibrary } from '../library-store.ts';
import { scansOfBrand } from '../scan-log.ts';
import { causeAsScan } from './cause-as-scan.ts';
import { extentOfSharedAds, shareAds, sharedAdIds } from './shared-ads.ts';

/** Scans that looked at a brand for ads shared with others in the course of time (rules 9, 10). */

export type LooksOfSharedAds = {
  /** They showed such an ad, or covered its page while it was live, and the ad was or became the brand's. */
  readonly looks: ReadonlySet<string>;
  /** Shared ads whose moves do not follow from their scans. */
  readonly unsettled: readonly string[];
};

/** `pageIds`: all pages of the brand. */
export const looksOfSharedAds = async (
  database: Database,
  library: OpenLibrary,
  cause: { readonly id: string; readonly observedAt: string },
  pageIds: readonly string[],
): Promise<LooksOfSharedAds> => {
  const { brandId, state } = library;
  const extent = await extentOfSharedAds(database, brandId, []);
  if (extent.scanIds.length === 0) return { looks: new Set(), unsettled: [] };
  const pages = [...new Set([...pageIds, ...extent.pageIds])];
  const scans = await scansOfBrand(database, brandId, null, pages, extent.scanIds);
  const among = { scan: causeAsScan(cause, brandId), scans, metAt: new Map(), shownPages: [], moves: [] };
  const deciding = { scan_id: cause.id, observed_at: cause.observedAt, scannedFor: null };
  const sums = emptyLateTotals();
  const unsettled: string[] = [];
  for await (const adIds of sharedAdIds(database, brandId, cause.id)) {
    state.ads.clear();
    await loadAds(database, library, adIds);
    const shared = await shareAds(database, among, adIds, { deciding });
    unsettled.push(...shared.unsettled);
    const decided = adIds.filter(
      (adId) => !shared.unsettled.has(adId) && (shared.ads.has(adId) || state.ads.has(adId)),
    );
    correctAds(among, decided, new Map(), sums, shared)(state);
  }
  state.ads.clear();
  return { looks: sums.concerned, unsettled };
};
