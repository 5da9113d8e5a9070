import type { AdAttributed } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** Rows of ads that change their brand (rule 10), folded from the streams of both brands. */

type Move = AdAttributed['data'];

/** Time and cause of a move as a text. Of several moves of an ad, the greatest text is that of the last. */
const orderOf = ({ observed_at, scan_id }: Move): string => `${observed_at}|${scan_id}`;

// The two streams may be folded in either order. `moved` is needed only until the second stream has the event.
const SAVE_MOVES = `
  with input as (
    select i.*, i.data->>'ad_id' as ad_id, (i.data->>'scan_id')::uuid as scan_id,
      (i.data->>'to_brand_id')::uuid as to_brand_id,
      i.data->>'brand_id' = i.data->>'to_brand_id' as arrives
    from jsonb_to_recordset($1::jsonb) as i(since text, data jsonb)
  ), owners as (
    insert into ingest.ad_owner as o (ad_id, brand_id, since)
    select distinct on (ad_id) ad_id, to_brand_id, since from input order by ad_id, since collate "C" desc
    on conflict (ad_id) do update set brand_id = excluded.brand_id, since = excluded.since
    where o.since < excluded.since
  )
  insert into ingest.ad_move as m (ad_id, scan_id, to_brand_id, has_left, has_arrived, moved)
  select ad_id, scan_id, to_brand_id, not arrives, arrives, case when arrives then null else data end from input
  on conflict (ad_id, scan_id, to_brand_id) do update set
    has_left = m.has_left or excluded.has_left,
    has_arrived = m.has_arrived or excluded.has_arrived,
    moved = case when m.has_arrived or excluded.has_arrived then null else excluded.moved end`;

/** Writes moves that one stream records, and the owners of the ads. Repeating it changes nothing. */
export const saveMoves = async (database: Transaction, moves: readonly Move[]): Promise<void> => {
  if (moves.length === 0) return;
  const rows = moves.map((data) => ({ since: orderOf(data), data }));
  await database.query(SAVE_MOVES, [JSON.stringify(rows)]);
};

/** Moves that the stream of the former brand records and that of the present brand does not. */
export type OpenMoves = {
  readonly scan_id: string;
  readonly to_brand_id: string;
};

/** Returns the causes and present brands of open moves; only those of ads in a staged scan unless `scanId` is `null`. */
export const openMoves = async (database: Database, scanId: string | null): Promise<readonly OpenMoves[]> => {
  const { rows } = await database.query<OpenMoves>(
    `select distinct scan_id, to_brand_id from ingest.ad_move m
     where has_left and not has_arrived
       and ($1::uuid is null or exists (select from ingest.staged_ad s where s.scan_id = $1 and s.ad_id = m.ad_id))
     order by scan_id, to_brand_id`,
    [scanId],
  );
  return rows;
};

/** Returns open moves of one cause and brand, by ad id after `after`, at most `limit`. */
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
