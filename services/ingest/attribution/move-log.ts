import type { AdAttributed } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { BrandMoves } from '#domain/corpus/ad-library/contributions.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

type Move = AdAttributed['data'];

/** The greatest text is the last move. A move of the same time begins with the text of the one before. */
const orderOf = ({ observed_at, scan_id, after }: Move): string => `${after ?? observed_at}|${scan_id}`;

// The streams may be folded in either order. `moved` is kept until the second stream has the event.
const SAVE_MOVES = `
  with input as (
    select i.*, i.data->>'ad_id' as ad_id, (i.data->>'scan_id')::uuid as scan_id,
      (i.data->>'to_brand_id')::uuid as to_brand_id, (i.data->>'from_brand_id')::uuid as from_brand_id,
      i.data->>'observed_at' as observed_at, i.data->'ad'->>'status' as status,
      i.data->>'brand_id' = i.data->>'to_brand_id' as arrives
    from jsonb_to_recordset($1::jsonb) as i(since text, data jsonb)
  ), owners as (
    insert into ingest.ad_owner as o (ad_id, brand_id, since)
    select distinct on (ad_id) ad_id, to_brand_id, since from input order by ad_id, since collate "C" desc
    on conflict (ad_id) do update set brand_id = excluded.brand_id, since = excluded.since
    where o.since < excluded.since
  )
  insert into ingest.ad_move as m
    (ad_id, scan_id, to_brand_id, from_brand_id, observed_at, status, has_left, has_arrived, moved)
  select ad_id, scan_id, to_brand_id, from_brand_id, observed_at, status, not arrives, arrives,
    case when arrives then null else data end from input
  on conflict (ad_id, scan_id, to_brand_id) do update set
    has_left = m.has_left or excluded.has_left,
    has_arrived = m.has_arrived or excluded.has_arrived,
    moved = case when m.has_arrived or excluded.has_arrived then null else excluded.moved end`;

/** Repeating it changes nothing. */
export const saveMoves = async (database: Transaction, moves: readonly Move[]): Promise<void> => {
  if (moves.length === 0) return;
  const rows = moves.map((data) => ({ since: orderOf(data), data }));
  await database.query(SAVE_MOVES, [JSON.stringify(rows)]);
};

export type OpenMoves = { readonly scan_id: string; readonly to_brand_id: string };

/** The open moves of a staged scan, of one cause, or all. */
export type MovesToComplete = { readonly scanId: string } | { readonly causeId: string } | 'all';

export const OPEN_MOVES = 'select from ingest.ad_move where has_left and not has_arrived';

export const openMoves = async (
  database: Database,
  which: MovesToComplete,
): Promise<readonly OpenMoves[]> => {
  const { rows } = await database.query<OpenMoves>(
    `select distinct scan_id, to_brand_id from ingest.ad_move m
     where has_left and not has_arrived
       and ($1::uuid is null or exists (select from ingest.staged_ad s where s.scan_id = $1 and s.ad_id = m.ad_id))
       and ($2::uuid is null or scan_id = $2)
     order by scan_id, to_brand_id`,
    [
      typeof which === 'object' && 'scanId' in which ? which.scanId : null,
      typeof which === 'object' && 'causeId' in which ? which.causeId : null,
    ],
  );
  return rows;
};

export const movesToComplete = async (
  database: Database,
  { scan_id, to_brand_id }: OpenMoves,
  after: string,
  limit: number,
): Promise<readonly Move[]> => {
  const { rows } = await database.query<{ moved: Move }>(
    `select moved from ingest.ad_move
     where has_left and not has_arrived and scan_id = $1 and to_brand_id = $2 and ad_id > $3
     order by ad_id limit $4`,
    [scan_id, to_brand_id, after, limit],
  );
  return rows.map(({ moved }) => moved);
};

export const brandsLeftBy = async (database: Database, causeId: string): Promise<readonly string[]> => {
  const { rows } = await database.query<{ brand_id: string }>(
    'select distinct from_brand_id as brand_id from ingest.ad_move where scan_id = $1 order by brand_id',
    [causeId],
  );
  return rows.map(({ brand_id }) => brand_id);
};

/**
 * Ordered by time. `active` includes missing ads, as in scan totals. `unsettled`: only ads that a late scan does not
 * decide again.
 */
export const movesOfBrand = async (
  database: Database,
  brandId: string,
  unsettled: readonly string[] | null = null,
): Promise<readonly BrandMoves[]> => {
  const condition = `and ($2::text[] is null or ad_id = any($2)
    or not exists (select from ingest.ad a where a.ad_id = ad_move.ad_id and a.known ? 'placings'))`;
  const { rows } = await database.query<BrandMoves>(
    `select observed_at, sum(by)::int as total, coalesce(sum(by) filter (where status <> 'inactive'), 0)::int as active,
       coalesce(sum(by) filter (where status = 'missing'), 0)::int as missing
     from (
       select observed_at, status, 1 as by from ingest.ad_move where to_brand_id = $1 ${condition}
       union all select observed_at, status, -1 from ingest.ad_move where from_brand_id = $1 ${condition}
     ) m group by observed_at order by observed_at`,
    [brandId, unsettled],
  );
  return rows;
};

/** Last scan or move in the brands' streams; `null` when there is none. */
export const lastDecisionOf = async (
  database: Database,
  brandIds: readonly string[],
): Promise<string | null> => {
  const { rows } = await database.query<{ last: string | null }>(
    `select max(at) as last from (
       select max(s.observed_at) as at from ingest.recorded_scan r join ingest.scan s using (scan_id)
       where r.brand_id = any($1::uuid[])
       union all select max(observed_at) from ingest.ad_move where from_brand_id = any($1::uuid[])
       union all select max(observed_at) from ingest.ad_move where to_brand_id = any($1::uuid[])
     ) last`,
    [brandIds],
  );
  return rows[0]?.last ?? null;
};

export const newestCoverOf = async (
  database: Database,
  brandId: string,
  pageIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly scan_id: string; readonly observed_at: string }>> => {
  const { rows } = await database.query<{ social_page_id: string; scan_id: string; observed_at: string }>(
    `select distinct on (p.social_page_id) p.social_page_id, s.scan_id, s.observed_at
     from ingest.scan_page p join ingest.scan s using (scan_id)
     join ingest.recorded_scan r on r.scan_id = s.scan_id and r.brand_id = $1
     where p.social_page_id = any($2::text[]) and s.complete
     order by p.social_page_id, s.observed_at desc, s.scan_id desc`,
    [brandId, pageIds],
  );
  return new Map(rows.map(({ social_page_id, ...scan }) => [social_page_id, scan]));
};
