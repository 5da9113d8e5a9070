import type { AdLibraryScanEnd } from '#contracts/observations/ad-library-scan.ts';
import { brandAt, domainsOf, type KnownBrands, momentsOf } from '#domain/corpus/ad-library/attribution.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  attributeStagedAds,
  ownersOf,
  type Selection,
  stagedAdIds,
  stagedAds,
} from '../ad-library/staged-ads.ts';
import { latenessOf } from '../ad-library/late/lateness.ts';
import { type Misplaced, misplacedAds, movedAtOf, placedAds } from './brand-of-ad.ts';
import { knownBrands, placesOf } from './known-brands.ts';
import { moveAdsBy, moveMisplacedAds } from './move-ads.ts';

/** Selects ads whose brand differs even without what the scan shows. */
const movesByRegistration = async (
  database: Database,
  moves: readonly Misplaced[],
): Promise<(move: Misplaced) => boolean> => {
  if (moves.length === 0) return () => false;
  const misplaced = await misplacedAds(
    database,
    moves.map(({ ad_id }) => ad_id),
  );
  const adIds = new Set(misplaced.map(({ ad_id }) => ad_id));
  return ({ ad_id }) => adIds.has(ad_id);
};

/**
 * Rule 10. New ads get their brand; recorded ones move at the scan's time if it is in order for both brands.
 * `isBlocked`: late, or decided by later knowledge.
 */
export const attributeScan = async (
  database: Database,
  eventStore: EventStore,
  { scan_id, scanned_at, brand_domain }: AdLibraryScanEnd,
  {
    chunks,
    pageIds,
    domains,
    known,
    unless,
  }: {
    readonly chunks: readonly number[];
    readonly pageIds: readonly string[];
    readonly domains: readonly string[];
    /** Contains the links and registrations of these pages and domains. */
    readonly known: KnownBrands;
    /** Brands of ads that are shown as before follow from what was known before: they have moved already. */
    readonly unless: Selection['unless'];
  },
): Promise<{ readonly events: number; readonly isBlocked: boolean }> => {
  const scannedFor = brandIdOf(brand_domain);
  const scan = { scan_id, observed_at: scanned_at, scannedFor };
  const inOrder = new Map<string, boolean>();
  const isInOrder = async (brandId: string): Promise<boolean> => {
    const is =
      inOrder.get(brandId) ??
      (await latenessOf(database, brandId, { scan_id, scanned_at }, pageIds)) === 'in_order';
    inOrder.set(brandId, is);
    return is;
  };
  const [knownPages, knownDomains] = [new Set(pageIds), new Set(domains)];
  /** Other processes may have recorded one of the ads elsewhere meanwhile. */
  const knownOf = async ([ofPages, ofDomains]: ReturnType<typeof placesOf>): Promise<KnownBrands> =>
    new Set(ofPages).isSubsetOf(knownPages) && new Set(ofDomains).isSubsetOf(knownDomains)
      ? known
      : (await knownBrands(database, ofPages, ofDomains, scan)).after;
  let events = 0;
  let isBlocked = false;
  for await (const { ads, rows } of stagedAds(database, { scanId: scan_id, chunks, unless })) {
    const shown = new Map(ads.map((ad) => [ad.ad_id, ad]));
    const [owners, placed] = await Promise.all([
      ownersOf(database, [...shown.keys()]),
      placedAds(database, [...shown.keys()], shown),
    ]);
    const unowned = ads
      .filter(({ ad_id }) => !owners.has(ad_id))
      .map(({ ad_id, link_url, page_id }) => ({ ad_id, link_url, page_id, scannedFor }));
    const all = [...placed, ...unowned];
    const after = await knownOf(placesOf(all));
    const brandsOf = new Map(
      all.map((ad) => {
        const about = { ...ad, domains: domainsOf(ad.link_url) };
        const brands = momentsOf(about, scan, after).map((moment) => brandAt(about, moment, after));
        const [atScan = scannedFor] = brands;
        return [
          ad.ad_id,
          { atScan, now: brands.at(-1) ?? atScan, stays: new Set(brands).size === 1 },
        ] as const;
      }),
    );
    await attributeStagedAds(
      database,
      scan_id,
      new Map(
        unowned.flatMap(({ ad_id }) => {
          const brandId = brandsOf.get(ad_id)?.atScan ?? scannedFor;
          return rows.get(ad_id)?.brandId === brandId ? [] : [[ad_id, brandId]];
        }),
      ),
    );
    const moves: Misplaced[] = [];
    for (const { ad_id, brand_id: from, since, placed_at } of placed) {
      const { now: to, stays } = brandsOf.get(ad_id) ?? { now: from, stays: true };
      if (!stays || (placed_at !== null && placed_at > scanned_at)) isBlocked = true;
      if (to === from) continue;
      const move = { ad_id, from, to, since };
      const isNext = stays && movedAtOf(move) <= scanned_at;
      if (isNext && (await isInOrder(from)) && (await isInOrder(to))) moves.push(move);
      else isBlocked = true;
    }
    if (unowned.some(({ ad_id }) => brandsOf.get(ad_id)?.stays === false)) isBlocked = true;
    // A scan may register its brand's domain, and does not count for a brand that an ad leaves only because of that.
    const isLeft = await movesByRegistration(database, moves);
    const registration = { id: derivedId('registration', `${brand_domain}|${scan_id}`), at: scanned_at };
    events += await moveAdsBy(database, eventStore, moves.filter(isLeft), registration);
    const byScan = moves.filter((move) => !isLeft(move));
    events += await moveAdsBy(database, eventStore, byScan, { id: scan_id, at: scanned_at });
  }
  return { events, isBlocked };
};

/** For late scans, whose ads move after the decision, and when more became known meanwhile. */
export const moveShownAds = async (
  database: Database,
  eventStore: EventStore,
  { scan_id, scanned_at }: AdLibraryScanEnd,
  chunks: readonly number[],
): Promise<number> => {
  let events = 0;
  for (const chunk of chunks) {
    const adIds = await stagedAdIds(database, scan_id, chunk);
    events += await moveMisplacedAds(database, eventStore, adIds, {
      id: scan_id,
      at: scanned_at,
      byScans: true,
    });
  }
  return events;
};
