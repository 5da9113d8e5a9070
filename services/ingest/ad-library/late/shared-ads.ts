import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { isBlank } from '#domain/corpus/ad-library/ad-content.ts';
import {
  type SharedAd,
  areAsShown,
  brandAt,
  brandsOverTime,
  domainsOf,
  isOfOneBrand,
  momentsOf,
  placingsOf,
} from '#domain/corpus/ad-library/attribution.ts';
import { type LateScan, type SharedAds, looksOfAd } from '#domain/corpus/ad-library/late-scan.ts';
import { insertScan } from '#domain/corpus/ad-library/replay.ts';
import { compactLooks, compareScans, END_OF_TIME, expandLooks } from '#domain/corpus/ad-library/timeline.ts';
import type { AdState } from '#domain/corpus/ad-library/state.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type Deciding, knownBrands, placesOf } from '../../attribution/known-brands.ts';
import { stagedAds } from '../staged-ads.ts';
import { scansOfBrand } from '../scan-log.ts';

/** Ads that belong to several brands in the course of time (rules 10, 11). */

export type OwnedAd = { readonly brandId: string; readonly ad: AdState };

const statesOf = async (
  database: Database,
  adIds: readonly string[],
): Promise<ReadonlyMap<string, OwnedAd>> => {
  const { rows } = await database.query<{ brand_id: string; known: AdState }>({
    name: 'ingest_states_of_ads',
    text: `select brand_id, known from ingest.ad join ingest.ad_owner using (ad_id, brand_id)
           where ad_id = any($1::text[])`,
    values: [adIds],
  });
  return new Map(rows.map(({ brand_id, known }) => [known.ad_id, { brandId: brand_id, ad: known }]));
};

/** Ads between two streams: the former brand's has recorded the move, and the present one's has not yet. */
export const adsMovedBefore = async (
  database: Database,
  adIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await database.query<{ ad_id: string }>(
    `select distinct ad_id from ingest.ad_move m where ad_id = any($1::text[])
       and not exists (select from ingest.ad a where a.ad_id = m.ad_id and a.known ? 'placings')`,
    [adIds],
  );
  return new Set(rows.map(({ ad_id }) => ad_id));
};

export type StagedSharedAd = {
  readonly brands: ReadonlySet<string>;
  /** `null` for an ad that no scan has shown before. */
  readonly before: OwnedAd | null;
};

/** Brands that each staged ad may ever have had. Ads that can only be their owner's are left out. */
export const brandsOfStagedAds = async (
  database: Database,
  scan: Deciding & { readonly scannedFor: string },
  chunks: readonly number[],
): Promise<ReadonlyMap<string, StagedSharedAd>> => {
  const found = new Map<string, StagedSharedAd>();
  for await (const { ads: shown } of stagedAds(database, { scanId: scan.scan_id, chunks })) {
    const adIds = shown.map(({ ad_id }) => ad_id);
    const [states, moved] = [await statesOf(database, adIds), await adsMovedBefore(database, adIds)];
    const firstScans = await scannedForOf(
      database,
      [...states.values()].flatMap(({ ad }) => ad.looks[0]?.scan_id ?? []),
    );
    const possible = shown.flatMap((ad) => {
      const state = states.get(ad.ad_id);
      if (moved.has(ad.ad_id)) return [];
      const looks = (state?.ad.looks ?? []).filter(({ kind }) => kind !== 'absent');
      const links = new Set([
        isBlank(ad.link_url) ? null : ad.link_url,
        looks[0]?.shown?.link_url ?? null,
        ...looks.flatMap((look) => look.shown?.link_url ?? []),
      ]);
      const pages = new Set([
        ad.page_id,
        looks[0]?.shown?.page_id ?? ad.page_id,
        ...looks.flatMap((look) => look.shown?.page_id ?? []),
      ]);
      const firstLook = state?.ad.looks[0];
      const first = firstScans.get(firstLook?.scan_id ?? '') ?? scan.scannedFor;
      const since = firstLook && compareScans(firstLook, scan) < 0 ? firstLook : scan;
      return [...links].flatMap((link_url) =>
        [...pages].flatMap((page_id) =>
          [...new Set([first, scan.scannedFor])].map((one) => ({
            ad_id: ad.ad_id,
            link_url,
            page_id,
            scannedFor: one,
            since,
          })),
        ),
      );
    });
    const { before: without, after: known } = await knownBrands(database, ...placesOf(possible), scan);
    const placed = possible.flatMap(({ ad_id, since, ...place }) => {
      const about = { ...place, domains: domainsOf(place.link_url) };
      return momentsOf(about, since, known).flatMap((moment) => [
        { ad_id, brandId: brandAt(about, moment, known) },
        { ad_id, brandId: brandAt(about, moment, without) },
      ]);
    });
    const ofAd = Map.groupBy(placed, ({ ad_id }) => ad_id);
    for (const ad_id of adIds) {
      const before = states.get(ad_id) ?? null;
      const own = (ofAd.get(ad_id) ?? []).map(({ brandId }) => brandId);
      const brands = new Set([...own, ...(before?.ad.brands ?? []), ...(before ? [before.brandId] : [])]);
      if (brands.size > 1) found.set(ad_id, { brands, before });
    }
  }
  return found;
};

const scannedForOf = async (
  database: Database,
  scanIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await database.query<{ scan_id: string; scanned_for: string }>(
    'select scan_id, scanned_for from ingest.scan where scan_id = any($1::uuid[])',
    [scanIds],
  );
  return new Map(rows.map(({ scan_id, scanned_for }) => [scan_id, scanned_for]));
};

/** The condition of the index `ad_by_each_brand`. */
const IS_SHARED = `a.known->'brands' @> to_jsonb($1::text)
  and exists (select from ingest.ad_owner o where o.ad_id = a.ad_id and o.brand_id = a.brand_id)`;

export const formerBrandsOfPages = async (
  database: Database,
  pageIds: readonly string[],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ brand_id: string }>(
    `select distinct jsonb_array_elements_text(known->'brands') as brand_id from ingest.ad
     where social_page_id = any($1::text[]) and known ? 'brands'`,
    [pageIds],
  );
  return rows.map(({ brand_id }) => brand_id);
};

/** Ads that a scan for `scannedFor` showed first. The stream of a later brand of such an ad need not have that scan. */
export const brandsOfAdsFirstShownFor = async (
  database: Database,
  brandIds: readonly string[],
  scannedFor: string,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ brand_id: string }>(
    `select distinct jsonb_array_elements_text(known->'brands') as brand_id from ingest.ad
     where known->'brands' ?| $1::text[] and exists (select from ingest.scan first
       where first.scan_id = (known->'looks'->0->>'scan_id')::uuid and first.scanned_for = $2)`,
    [brandIds, scannedFor],
  );
  return rows.map(({ brand_id }) => brand_id);
};

/** Pages and scans of the brand's shared ads, staged ones included. */
export const extentOfSharedAds = async (
  database: Database,
  brandId: string,
  stagedIds: readonly string[],
): Promise<{ readonly pageIds: readonly string[]; readonly scanIds: readonly string[] }> => {
  const { rows } = await database.query<{ page_ids: readonly string[]; scan_ids: readonly string[] }>(
    `with shared as (
       select social_page_id, known from ingest.ad a where ${IS_SHARED}
       union all select social_page_id, known from ingest.ad where ad_id = any($2::text[])
     )
     select array(select distinct social_page_id from shared where social_page_id is not null) as page_ids,
       array(select distinct look->>'scan_id' from shared, jsonb_array_elements(known->'looks') look) as scan_ids`,
    [brandId, stagedIds],
  );
  return { pageIds: rows[0]?.page_ids ?? [], scanIds: rows[0]?.scan_ids ?? [] };
};

export const sharedAdIds = async function* (
  database: Database,
  brandId: string,
  scanId: string,
): AsyncGenerator<readonly string[]> {
  const SLICE_ADS = 500;
  for (let after = ''; ; ) {
    const { rows } = await database.query<{ ad_id: string }>(
      `select ad_id from (select ad_id from ingest.ad a where ${IS_SHARED} offset 0) shared
       where ad_id > $2 and not exists (
         select from ingest.staged_ad s where s.scan_id = $3 and s.ad_id = shared.ad_id)
       order by ad_id limit ${SLICE_ADS}`,
      [brandId, after, scanId],
    );
    if (rows.length > 0) yield rows.map(({ ad_id }) => ad_id);
    if (rows.length < SLICE_ADS) return;
    after = rows.at(-1)?.ad_id ?? after;
  }
};

/** Includes scans of other brands: one scan may cover a page in full for one brand, and in part for another. */
const withAllLooks = async (
  database: Database,
  states: ReadonlyMap<string, OwnedAd>,
  { scan }: LateScan,
): Promise<ReadonlyMap<string, AdState>> => {
  const complete = new Map<string, AdState>();
  const foreign = [...states.values()].filter((state) => state.brandId !== scan.header.brand_id);
  for (const [owner, owned] of Map.groupBy(foreign, (state) => state.brandId)) {
    const pageIds = new Set(owned.flatMap(({ ad }) => ad.page_id ?? []));
    const scanIds = new Set(owned.flatMap(({ ad }) => ad.looks.map(({ scan_id }) => scan_id)));
    const others = await scansOfBrand(database, owner, scan.scan_id, [...pageIds], [...scanIds]);
    // The owner may have recorded what the late scan shows.
    const scans = insertScan(others, { ...scan, recorded: false });
    for (const { ad } of owned) {
      const looks = compactLooks(expandLooks(ad.looks, scans, ad.moved_at), scans, END_OF_TIME);
      complete.set(ad.ad_id, { ...ad, looks, moved_at: END_OF_TIME });
    }
  }
  return complete;
};

/**
 * `isOwn`: new ads of the brand. `unchanged`: staged ads before the scan, which another brand's part may have
 * corrected.
 */
export const shareAds = async (
  database: Database,
  late: LateScan,
  adIds: readonly string[],
  {
    deciding,
    shown = new Map(),
    isOwn = () => false,
    unchanged = new Map(),
  }: {
    readonly deciding: Deciding;
    readonly shown?: ReadonlyMap<string, ObservedAd>;
    readonly isOwn?: (adId: string) => boolean;
    readonly unchanged?: ReadonlyMap<string, OwnedAd | null>;
  },
): Promise<SharedAds> => {
  const brandId = late.scan.header.brand_id;
  const states = new Map(await statesOf(database, adIds));
  for (const adId of adIds) {
    const ad = unchanged.get(adId);
    if (ad) states.set(adId, ad);
    else if (ad === null) states.delete(adId);
  }
  const others = await withAllLooks(database, states, late);
  const all = insertScan(late.scans, late.scan);
  const placings = adIds.map((adId) => {
    const looks = looksOfAd(late, others.get(adId) ?? states.get(adId)?.ad, shown.get(adId));
    return { before: placingsOf(looks.before, all), after: placingsOf(looks.after, all) };
  });
  const flat = placings.flatMap(({ before, after }) => [...before, ...after]);
  const known = await knownBrands(database, ...placesOf(flat), deciding);
  const ads = new Map<string, SharedAd>();
  const foreign = new Map<string, AdState | undefined>();
  const unsettled = new Set<string>();
  adIds.forEach((adId, index) => {
    const state = states.get(adId);
    const own = {
      before: brandsOverTime(placings[index]?.before ?? [], known.before),
      after: brandsOverTime(placings[index]?.after ?? [], known.after),
    };
    const isForeign = state === undefined ? !isOwn(adId) : state.brandId !== brandId;
    const isAsShown =
      state === undefined ||
      areAsShown(state.ad.placings, state.brandId, own.before) ||
      areAsShown(state.ad.placings, state.brandId, own.after);
    if (!isAsShown) {
      if (isForeign || state?.ad.placings !== undefined) unsettled.add(adId);
      return;
    }
    if (isForeign) foreign.set(adId, others.get(adId));
    if (isForeign || state?.ad.brands !== undefined || !isOfOneBrand(own, brandId)) ads.set(adId, own);
  });
  return { ads, foreign, unsettled };
};
