import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import {
  type AdLibraryEvent,
  adLibraryStream,
  type ScanRecorded,
} from '#contracts/events/corpus/ad-library.ts';
import type { AdAttributed, ScanCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import {
  emptyLibrary,
  type AdState,
  type ScannedPage,
  type LibraryState,
  NO_PAGE,
  pageMetAt,
  pairCountries,
} from '#domain/corpus/ad-library/state.ts';
import { evolve } from '#domain/corpus/ad-library/evolve.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { joinAsBytes } from './staged-ads.ts';
import { destinationOf, formerDomainsOf } from '../attribution/brand-of-ad.ts';
import { saveMoves } from '../attribution/move-log.ts';

const SCHEMA = new URL('../schema.sql', import.meta.url);

/** Decided events are folded at once; `revision` is that of the recorded ones. `state.ads` has only loaded ads. */
export type OpenLibrary = {
  readonly brandId: string;
  revision: bigint;
  readonly state: LibraryState;
  readonly changed: {
    readonly ads: Map<string, AdState>;
    /** Digests and coverage keys of ads that the state repeats as a scan showed them (`staged-ads.ts`). */
    readonly shown: Map<string, string>;
    readonly pages: Set<string>;
    readonly scans: Map<string, ScanRecorded['data']>;
    readonly corrections: ScanCorrected['data'][];
    readonly removed: Set<string>;
    readonly moves: AdAttributed['data'][];
  };
};

export const createWorkingTables = (database: Database): Promise<void> =>
  installSchema(database, {
    lock: ADVISORY_LOCKS.ingestSchema,
    sql: readFileSync(SCHEMA, 'utf8'),
    fingerprintOn: 'ingest',
  });

export const loadAds = async (
  database: Database,
  library: OpenLibrary,
  adIds: readonly string[],
): Promise<void> => {
  const missingIds = adIds.filter((adId) => !library.state.ads.has(adId));
  if (missingIds.length === 0) return;
  const { rows } = await database.query<{ known: AdState }>({
    name: 'ingest_load_ads',
    text: 'select known from ingest.ad where ad_id = any($1::text[]) and brand_id = $2 order by ad_id',
    values: [missingIds, library.brandId],
  });
  for (const { known } of rows) library.state.ads.set(known.ad_id, known);
};

export const adIdsOf = (event: AdLibraryEvent): readonly string[] => {
  switch (event.type) {
    case 'AdStarted':
    case 'AdRevised':
    case 'AdDetailsObserved':
    case 'AdDestinationChanged':
    case 'AdConfirmedInactive':
    case 'AdReturned':
    case 'AdObservationCorrected':
    case 'AdAttributed':
      return [event.data.ad_id];
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
      return event.data.ad_ids;
    case 'AdsReworded':
      return event.data.ads.map(({ ad_id }) => ad_id);
    case 'ScanCorrected':
    case 'ScanRecorded':
      return [];
  }
};

/** Every ad of the events must be loaded, except ads that an event starts. */
export const foldEvents = (library: OpenLibrary, events: readonly AdLibraryEvent[]): void => {
  const { state, changed } = library;
  for (const event of events) {
    evolve(state, event);
    for (const adId of adIdsOf(event)) {
      const ad = state.ads.get(adId);
      if (event.type !== 'AdStarted') changed.shown.delete(adId);
      if (ad) {
        changed.ads.set(adId, ad);
        changed.removed.delete(adId);
      } else {
        changed.ads.delete(adId);
        changed.removed.add(adId);
      }
    }
    if (event.type === 'AdAttributed') changed.moves.push(event.data);
    if (event.type === 'ScanCorrected') changed.corrections.push(event.data);
    if (event.type === 'ScanRecorded') {
      changed.scans.set(event.data.scan_id, event.data);
      for (const { page_id } of event.data.pages) changed.pages.add(page_id);
    }
  }
};

// Writes nothing if another process has moved the tables' revision. Only tables that were dropped lack `ad_owner` rows
// here.
const SAVE = `
  with current as (
    insert into ingest.library as l (brand_id, revision, live, missing, total, open)
    values ($1, $2, $3, $4, $5, $6)
    on conflict (brand_id) do update set revision = excluded.revision, live = excluded.live,
      missing = excluded.missing, total = excluded.total, open = excluded.open
    where l.revision = $16
    returning 1
  ), ads as (
    insert into ingest.ad (ad_id, brand_id, social_page_id, live, shown_ended, first_seen_at, page_met_at, known,
      destination, former_domains, pair_countries, shown)
    select i.ad_id, $1::uuid, i.social_page_id, i.live, i.shown_ended, i.first_seen_at, i.page_met_at, i.known::jsonb,
      i.destination, string_to_array(i.former, ' '), string_to_array(i.countries, ' '), i.shown
    from rows from (
        unnest($7::text[], $8::text[], $9::boolean[], $12::text[], $14::boolean[], $15::text[], $20::text[], $21::text[],
          $22::text[], $23::text[]),
        json_array_elements($10::json))
      as i(ad_id, social_page_id, live, first_seen_at, shown_ended, page_met_at, destination, former, countries, shown, known)
    where exists (select from current)
    on conflict (ad_id, brand_id) do update set social_page_id = excluded.social_page_id, live = excluded.live,
      shown_ended = excluded.shown_ended,
      first_seen_at = excluded.first_seen_at, page_met_at = excluded.page_met_at, known = excluded.known,
      destination = excluded.destination, former_domains = excluded.former_domains,
      pair_countries = excluded.pair_countries, shown = excluded.shown
  ), repeated as (
    update ingest.ad a set shown = i.shown from unnest($24::text[], $25::text[]) as i(ad_id, shown)
    where a.ad_id = i.ad_id and a.brand_id = $1::uuid and exists (select from current)
  ), owners as (
    insert into ingest.ad_owner (ad_id, brand_id)
    select i.ad_id, $1::uuid from unnest($7::text[]) as i(ad_id)
    where not exists (select from ingest.ad_owner o where o.ad_id = i.ad_id)
    order by i.ad_id on conflict do nothing
  ), pages as (
    insert into ingest.page
      (brand_id, social_page_id, known, first_scan_at, last_scan_at, last_complete_at, complete_before)
    select $1::uuid, i.page_id, to_jsonb(i), i.first_scan_at, i.last_scan_at, i.last_complete_at,
      i.complete_before
    from jsonb_to_recordset($11::jsonb) as i(page_id text, first_scan_at text, last_scan_at text,
      last_complete_at text, complete_before text, all_seen_at text)
    where exists (select from current)
    on conflict (social_page_id, brand_id) do update set known = excluded.known,
      first_scan_at = excluded.first_scan_at, last_scan_at = excluded.last_scan_at,
      last_complete_at = excluded.last_complete_at, complete_before = excluded.complete_before
  ), removed as (
    delete from ingest.ad where ad_id = any($13::text[]) and brand_id = $1::uuid and exists (select from current)
  ), input as (
    select * from jsonb_to_recordset($17::jsonb) as i(scan_id uuid, scanned_for uuid, observed_at text,
      complete boolean, countries text[], collector text, page_ids text[], partial_pages text[], differences text[],
      totals jsonb, reliable boolean, chronological boolean, unnamed boolean, recorded_by uuid)
    where exists (select from current)
  ), scans as (
    insert into ingest.scan as s (scan_id, scanned_for, observed_at, complete, countries, collector, unnamed)
    select scan_id, scanned_for, observed_at, complete, countries, collector, unnamed from input
    on conflict (scan_id) do update set unnamed = true where excluded.unnamed and not s.unnamed
  ), scan_pages as (
    insert into ingest.scan_page (social_page_id, scan_id)
    select distinct social_page_id, scan_id from input cross join unnest(page_ids) as p(social_page_id) on conflict do nothing
  ), recorded_scans as (
    insert into ingest.recorded_scan
      (scan_id, brand_id, partial_pages, differences, totals, reliable, chronological, collector, corrected_by)
    select scan_id, $1::uuid, partial_pages, differences, totals, reliable, chronological, collector, recorded_by from input
    on conflict do nothing
  ), cleared as (
    delete from ingest.pending_fold where stream = $18 and command_id = $19 and exists (select from current)
  )
  select from current`;

const SAVE_CORRECTIONS = `
  update ingest.recorded_scan r
  set totals = i.totals, reliable = i.reliable, chronological = true, no_look = coalesce(i.no_look, false),
    differences = coalesce(i.differences, r.differences),
    corrected_by = case when r.totals = i.totals then r.corrected_by else i.corrected_by end,
    causes = case when r.totals = i.totals then r.causes
      else (array_prepend(i.corrected_by, coalesce(r.causes, array[r.corrected_by])))[1:100] end
  from jsonb_to_recordset($2::jsonb) as i(scan_id uuid, totals jsonb, reliable boolean, corrected_by uuid, no_look boolean,
    differences text[])
  where r.scan_id = i.scan_id and r.brand_id = $1::uuid`;

const scanRow = ({
  pages,
  differences = [],
  chronological,
  late_arrival,
  ...scan
}: ScanRecorded['data']) => ({
  ...scan,
  differences,
  chronological: chronological === true || !late_arrival,
  unnamed: pages.some(({ page_id }) => page_id === NO_PAGE),
  page_ids: pages.map(({ page_id }) => page_id).filter((pageId) => pageId !== NO_PAGE),
  partial_pages: pages.filter(({ partial }) => partial).map(({ page_id }) => page_id),
});

const jsonBytes = (items: readonly unknown[]): Buffer =>
  Buffer.concat([
    Buffer.from('['),
    joinAsBytes(
      items.map((item) => JSON.stringify(item)),
      ',',
    ),
    Buffer.from(']'),
  ]);

/**
 * Takes over the changes at once, so that the next ones may be decided meanwhile. `false`: another process wrote first.
 * After a crash the next decision catches up.
 */
export const saveLibrary = async (
  database: Database,
  library: OpenLibrary,
  revision: bigint,
  commandId: string | null,
): Promise<boolean> => {
  const { state, brandId, changed } = library;
  const ads = [...changed.ads.values()];
  const repeated = [...changed.shown].filter(([adId]) => !changed.ads.has(adId));
  const statement = {
    name: 'ingest_save_library',
    text: SAVE,
    values: [
      brandId,
      revision,
      state.live,
      state.missing,
      state.total,
      state.open && JSON.stringify(state.open),
      ads.map(({ ad_id }) => ad_id),
      ads.map(({ page_id }) => page_id),
      ads.map(({ status }) => status !== 'inactive'),
      jsonBytes(ads),
      JSON.stringify([...changed.pages].map((pageId) => state.pages.get(pageId))),
      ads.map(({ first_seen_at }) => first_seen_at),
      [...changed.removed],
      ads.map(({ looks }) => looks.at(-1)?.kind === 'ended'),
      ads.map(pageMetAt),
      library.revision,
      JSON.stringify([...changed.scans.values()].map(scanRow)),
      adLibraryStream(brandId),
      commandId,
      ads.map(({ content }) => destinationOf(content.link_url)),
      ads.map((ad) => formerDomainsOf(ad).join(' ') || null),
      ads.map((ad) => pairCountries(ad).join(' ')),
      ads.map(({ ad_id }) => changed.shown.get(ad_id) ?? null),
      repeated.map(([adId]) => adId),
      repeated.map(([, shown]) => shown),
    ],
  };
  const corrections = changed.corrections.splice(0);
  const moves = changed.moves.splice(0);
  library.revision = revision;
  changed.ads.clear();
  changed.shown.clear();
  changed.pages.clear();
  changed.removed.clear();
  changed.scans.clear();
  // One statement needs no transaction. A correction may be of a scan that the first statement inserts.
  if (corrections.length === 0 && moves.length === 0)
    return (await database.query(statement)).rows.length > 0;
  return await inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query(statement);
    if (rows.length === 0) return false;
    // One by one: of several corrections of a scan the last holds.
    for (const correction of corrections)
      await transaction.query(SAVE_CORRECTIONS, [brandId, JSON.stringify([correction])]);
    await saveMoves(transaction, moves);
    return true;
  });
};

/** The state may be stale: the expected revision of the next append detects that. */
export const openLibrary = async (database: Database, brandId: string): Promise<OpenLibrary> => {
  const state = emptyLibrary();
  // One statement: pages of another revision would be decided upon unnoticed.
  const { rows } = await database.query<
    { revision: string; pages: readonly ScannedPage[] } & Pick<
      LibraryState,
      'live' | 'missing' | 'total' | 'open'
    >
  >(
    `select revision::text, live, missing, total, open,
       array(select known from ingest.page p where p.brand_id = l.brand_id order by social_page_id) as pages
     from ingest.library l where brand_id = $1`,
    [brandId],
  );
  const row = rows[0];
  const library: OpenLibrary = {
    brandId,
    revision: row ? BigInt(row.revision) : -1n,
    state,
    changed: {
      ads: new Map(),
      shown: new Map(),
      pages: new Set(),
      scans: new Map(),
      corrections: [],
      removed: new Set(),
      moves: [],
    },
  };
  if (row) {
    state.live = row.live;
    state.missing = row.missing;
    state.total = row.total;
    state.open = row.open;
    for (const page of row.pages) state.pages.set(page.page_id, page);
  }
  return library;
};
