import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { SHARED_HOSTS_VERSION } from '#contracts/values/links/shared-hosts.ts';
import { type AdState, adsNowOf, lastSeenAt, NO_PAGE, recordOf } from '#domain/corpus/ad-library/state.ts';
import { compactLooks, compareScans, END_OF_TIME, expandLooks } from '#domain/corpus/ad-library/timeline.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { handleCommand, SCAN_CONFLICTS } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type Fragment, raw, sql, textAndValues } from '#projections/sql/sql-tag.ts';
import { destinationsUnder, type Misplaced, misplacedAds, movedAtOf } from './brand-of-ad.ts';
import { completeMoves } from './complete-moves.ts';
import { createLibraryStateStore } from '../ad-library/library-state-store.ts';
import { loadAds, type OpenLibrary } from '../ad-library/library-store.ts';
import { scansOfBrand } from '../ad-library/scan-log.ts';
import { lastDecisionOf, newestCoverOf, OPEN_MOVES, openMoves } from './move-log.ts';

/** An ad leaves the former brand's stream before it joins the present one (rule 10). */

const MOVES_AT_ONCE = 100;
/** Another pass is needed only when another process moved one of the ads meanwhile. */
const PASSES_MAX = 5;

export type MoveCause = {
  readonly id: string;
  readonly at: string;
  /** A late scan caused the moves: a corrected ad moves at the scan since which it belongs to the other brand. */
  readonly byScans?: boolean;
};

type ScanKey = { readonly scan_id: string; readonly observed_at: string };
const keyOf = ({ scan_id, observed_at }: ScanKey): ScanKey => ({ scan_id, observed_at });

/**
 * States its last sighting, because scans of the former brand no longer imply it, and whether the present brand's scans
 * missed it.
 */
const movedAd = (
  library: OpenLibrary,
  ad: AdState,
  cover: ScanKey | undefined,
  {
    from,
    to,
    at,
    cause,
  }: { readonly from: string; readonly to: string; readonly at: string; readonly cause: ScanKey },
) => {
  const seen_at = lastSeenAt(ad, library.state.pages.get(ad.page_id ?? NO_PAGE));
  const isCoveredSince =
    ad.status === 'active' &&
    cover !== undefined &&
    cover.observed_at > seen_at &&
    !ad.looks.some(({ scan_id }) => scan_id === cover.scan_id);
  const looks = isCoveredSince
    ? [...ad.looks, { ...cover, kind: 'absent' as const }].toSorted(compareScans)
    : ad.looks;
  const brands = [...new Set([...(ad.brands ?? []), from, to])].toSorted();
  const [first] = ad.looks;
  const before = ad.placings ?? (first ? [{ ...keyOf(first), brand_id: from }] : []);
  const placings = before.at(-1)?.brand_id === to ? before : [...before, { ...cause, brand_id: to }];
  return recordOf({ ...ad, seen_at, looks, brands, placings, moved_at: at });
};

/** Includes looks that follow from scans of the present brand. */
const withAllLooks = async (
  database: Database,
  brandId: string,
  ads: readonly AdState[],
): Promise<readonly AdState[]> => {
  const pageIds = [...new Set(ads.flatMap(({ page_id }) => page_id ?? []))];
  const scanIds = [...new Set(ads.flatMap(({ looks }) => looks.map(({ scan_id }) => scan_id)))];
  const scans = await scansOfBrand(database, brandId, null, pageIds, scanIds);
  return ads.map((ad) => ({
    ...ad,
    looks: compactLooks(expandLooks(ad.looks, scans, ad.moved_at), scans, END_OF_TIME),
  }));
};

const takeAds = async (
  database: Database,
  eventStore: EventStore,
  moves: readonly Misplaced[],
  { id, at, byScans = false }: MoveCause,
): Promise<number> => {
  const [first] = moves;
  if (!first) return 0;
  const { from, to } = first;
  const moveOf = new Map(moves.map((move) => [move.ad_id, move]));
  /** A move at the same time states its order. */
  const orderAfter = (adId: string, movedAt: string) => {
    const before = moveOf.get(adId);
    return before && movedAtOf(before) >= movedAt ? { after: before.since } : {};
  };
  const store = createLibraryStateStore(database, eventStore, from, id);
  const decide = async function* (library: OpenLibrary): AsyncGenerator<readonly AdLibraryEvent[]> {
    for (let start = 0; start < moves.length; start += MOVES_AT_ONCE) {
      const adIds = moves.slice(start, start + MOVES_AT_ONCE).map(({ ad_id }) => ad_id);
      await loadAds(database, library, adIds);
      // Another process has moved an ad that is not loaded.
      const known = adIds.flatMap((adId) => library.state.ads.get(adId) ?? []);
      const ads = await withAllLooks(database, from, known);
      const covers = await newestCoverOf(database, to, [
        ...new Set(known.flatMap(({ page_id }) => page_id ?? [])),
      ]);
      const left = { ...adsNowOf(library.state) };
      yield ads.map((ad): AdLibraryEvent => {
        left.total -= 1;
        if (ad.status !== 'inactive') left.active -= 1;
        const placed = ad.placings?.at(-1);
        const cause = byScans && placed?.brand_id === to ? keyOf(placed) : { scan_id: id, observed_at: at };
        const { observed_at } = cause;
        return {
          type: 'AdAttributed',
          data: {
            brand_id: from,
            scan_id: id,
            observed_at,
            ad_id: ad.ad_id,
            from_brand_id: from,
            to_brand_id: to,
            ad: movedAd(library, ad, covers.get(ad.page_id ?? NO_PAGE), { from, to, at, cause }),
            ...orderAfter(ad.ad_id, observed_at),
            ads_now: { ...left },
          },
        };
      });
    }
  };
  await handleCommand({ store, decide, conflicts: SCAN_CONFLICTS });
  return store.appended();
};

export const moveAdsBy = async (
  database: Database,
  eventStore: EventStore,
  misplaced: readonly Misplaced[],
  cause: MoveCause,
): Promise<number> => {
  let events = 0;
  for (const moves of Map.groupBy(misplaced, ({ from, to }) => `${from} ${to}`).values()) {
    events += await takeAds(database, eventStore, moves, cause);
  }
  if (events === 0) return 0;
  return (
    events + (await completeMoves(database, eventStore, await openMoves(database, { causeId: cause.id })))
  );
};

/**
 * Time of the cause, or after all records of both brands: recorded figures hold the brands as known then. The id is
 * new.
 */
const causeAfter = async (
  database: Database,
  cause: MoveCause,
  { from, to }: Misplaced,
): Promise<MoveCause> => {
  const last = await lastDecisionOf(database, [from, to]);
  const isLast = last === null || last <= cause.at;
  const at = isLast ? cause.at : new Date(Date.parse(last) + 1).toISOString();
  return { ...cause, id: derivedId('attribution', `${cause.id}|${at}|${from}|${to}`), at };
};

/** Returns the number of events. Safe to repeat, and in several processes at once. */
export const moveMisplacedAds = async (
  database: Database,
  eventStore: EventStore,
  adIds: readonly string[],
  cause: MoveCause,
): Promise<number> => {
  let events = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const misplaced = await misplacedAds(database, adIds);
    if (misplaced.length === 0) break;
    for (const moves of Map.groupBy(misplaced, ({ from, to }) => `${from} ${to}`).values()) {
      const [first] = moves;
      if (first)
        events += await moveAdsBy(database, eventStore, moves, await causeAfter(database, cause, first));
    }
  }
  return events;
};

/** `hasOpenMoves`: of any ad. */
type FoundAds = { readonly hasOpenMoves: boolean; readonly adIds: readonly string[] };

const ADS_AT_ONCE = 500;

/** `which` is a condition on `ingest.ad`. Completes open moves first. */
const moveFoundAds = async (
  database: Database,
  eventStore: EventStore,
  which: Fragment,
  cause: MoveCause,
): Promise<number> => {
  const findAfter = async (adId: string): Promise<FoundAds> => {
    const statement = sql.unsafe`
      select exists (${raw(OPEN_MOVES)}) as "hasOpenMoves", array(
        select ad_id from ingest.ad where ad_id > ${adId} and ${which} order by ad_id limit ${raw(`${ADS_AT_ONCE}`)}
      ) as "adIds"`;
    const { rows } = await database.query<FoundAds>(...textAndValues(statement));
    return rows[0] ?? { hasOpenMoves: false, adIds: [] };
  };
  let events = 0;
  for (let after = ''; ; ) {
    let found = await findAfter(after);
    if (after === '' && found.hasOpenMoves) {
      events += await completeMoves(database, eventStore, await openMoves(database, 'all'));
      found = await findAfter(after);
    }
    const { adIds } = found;
    events += await moveMisplacedAds(database, eventStore, adIds, cause);
    if (adIds.length < ADS_AT_ONCE) return events;
    after = adIds.at(-1) ?? after;
  }
};

/** Without an observation, moves get a time after all records. */
const NO_TIME = new Date(0).toISOString();

/**
 * Looks at all ads once per list of shared hosts, because ended ads are in no later scan. Returns the number of events.
 */
export const moveAdsOfSharedHosts = async (database: Database, eventStore: EventStore): Promise<number> => {
  const { rows } = await database.query<{ version: string }>('select version from ingest.shared_hosts');
  if (rows[0]?.version === SHARED_HOSTS_VERSION) return 0;
  const cause = { id: derivedId('shared hosts', SHARED_HOSTS_VERSION), at: NO_TIME };
  const events = await moveFoundAds(database, eventStore, raw('true'), cause);
  await database.query(
    `insert into ingest.shared_hosts (version) values ($1) on conflict (one) do update set version = excluded.version`,
    [SHARED_HOSTS_VERSION],
  );
  return events;
};

/** A link that decides about the page moves ads to its brand; otherwise ads may leave the brand. */
export const moveAdsOfPage = async (
  database: Database,
  eventStore: EventStore,
  link: {
    readonly brandId: string;
    readonly pageId: string;
    readonly observedAt: string;
    readonly byScans?: boolean;
  },
): Promise<number> => {
  const { brandId, pageId, observedAt, byScans = false } = link;
  const { rows } = await database.query<{ brand_id: string }>(
    `select brand_id from ingest.linked_page where social_page_id = $1 order by confidence desc, brand_id limit 1`,
    [pageId],
  );
  const which =
    rows[0]?.brand_id === brandId
      ? sql.fragment`social_page_id = ${pageId} and brand_id <> ${brandId}`
      : sql.fragment`social_page_id = ${pageId} and brand_id = ${brandId}`;
  const cause = { id: derivedId('page link', `${pageId}|${brandId}|${observedAt}`), at: observedAt, byScans };
  return await moveFoundAds(database, eventStore, which, cause);
};

/** A domain that was registered. */
export type Registered = {
  readonly domain: string;
  readonly observedAt: string;
  /** Its ads are attributed with the scan, so they are left out. */
  readonly exceptScanId?: string | undefined;
  readonly byScans?: boolean;
};

const notStagedBy = (scanId: string | undefined): Fragment => sql.fragment`
  not exists (select from ingest.staged_ad s where s.scan_id = ${scanId ?? null}::uuid and s.ad_id = ad.ad_id)`;

/** Brands of ads that lead or led to the domain, and brands that those ads and the domain's own ever had. */
export const holdersOfDomain = async (
  database: Database,
  { domain, exceptScanId }: Registered,
): Promise<readonly string[]> => {
  const under = destinationsUnder(domain);
  if (under === null) return [];
  const statement = sql.unsafe`
    with found as (
      select brand_id::text, known->'brands' as brands from ingest.ad
      where destination >= ${under.from} and destination < ${under.until} and ${notStagedBy(exceptScanId)}
      union all
      select brand_id::text, known->'brands' from ingest.ad
      where former_domains @> array[${domain}::text] and ${notStagedBy(exceptScanId)}
      union all
      select brand_id::text, known->'brands' from ingest.ad
      where known->'brands' @> to_jsonb(${brandIdOf(domain)}::text)
    )
    select distinct brand_id from (
      select brand_id from found
      union all select jsonb_array_elements_text(brands) from found where brands is not null) held
    where brand_id <> ${brandIdOf(domain)} order by brand_id`;
  const { rows } = await database.query<{ brand_id: string }>(...textAndValues(statement));
  return rows.map(({ brand_id }) => brand_id);
};

/** Leaves out ads of the staged scan and ads that ever moved. */
export const adsLeadingTo = async function* (
  database: Database,
  brandId: string,
  { domain, exceptScanId }: Pick<Registered, 'domain' | 'exceptScanId'>,
): AsyncGenerator<readonly string[]> {
  const SLICE_ADS = 500;
  const under = destinationsUnder(domain);
  if (under === null) return;
  for (let after = ''; ; ) {
    const statement = sql.unsafe`
      select ad_id from ingest.ad
      where brand_id = ${brandId} and ad_id > ${after} and ${notStagedBy(exceptScanId)} and not known ? 'brands'
        and ((destination >= ${under.from} and destination < ${under.until}) or former_domains @> array[${domain}::text])
      order by ad_id limit ${raw(`${SLICE_ADS}`)}`;
    const { rows } = await database.query<{ ad_id: string }>(...textAndValues(statement));
    if (rows.length > 0) yield rows.map(({ ad_id }) => ad_id);
    if (rows.length < SLICE_ADS) return;
    after = rows.at(-1)?.ad_id ?? after;
  }
};

/** Also ads that lead to a host below the domain. */
export const moveAdsOfDomain = async (
  database: Database,
  eventStore: EventStore,
  { domain, observedAt, exceptScanId, byScans = false }: Registered,
): Promise<number> => {
  const under = destinationsUnder(domain);
  if (under === null) return 0;
  const which = sql.fragment`destination >= ${under.from} and destination < ${under.until}
    and brand_id <> ${brandIdOf(domain)} and ${notStagedBy(exceptScanId)}`;
  const cause = { id: derivedId('registration', domain), at: observedAt, byScans };
  return await moveFoundAds(database, eventStore, which, cause);
};
