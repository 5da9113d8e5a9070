import { type Database, inTransaction } from '#platform/postgres/pool.ts';

/** Staging is deleted in pages, so that statements stay short and an abort ends between two pages. */

/** Counted from the last chunk of a library scan. */
const STAGED_DAYS_MAX = 30;
/** Rows examined together: scans have up to 100,000 chunks, deleted together. */
const CHUNKS_PER_PAGE = 20;
/** Rows deleted together: ads of an abandoned scan. A catalogue page has up to a megabyte. */
const ADS_PER_PAGE = 10_000;
const CATALOGUE_PAGES_PER_PAGE = 200;

type Old = { readonly staged_at: string; readonly scan_id: string };
const FIRST: Old = { staged_at: '-infinity', scan_id: '00000000-0000-0000-0000-000000000000' };

const oldScans = async function* (
  database: Database,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  for (let after = FIRST; !signal.aborted; ) {
    const { rows } = await database.query<Old & { is_old: boolean }>(
      `with page as materialized (
         select staged_at, scan_id from ingest.staged_chunk
         where staged_at < now() - make_interval(days => $1) and (staged_at, scan_id) > ($2::timestamptz, $3::uuid)
         order by staged_at, scan_id limit ${CHUNKS_PER_PAGE})
       select p.staged_at::text as staged_at, p.scan_id, not exists (
         select from ingest.staged_chunk n
         where n.scan_id = p.scan_id and n.staged_at >= now() - make_interval(days => $1)) as is_old
       from page p order by p.staged_at, p.scan_id`,
      [STAGED_DAYS_MAX, after.staged_at, after.scan_id],
    );
    const ids = new Set(rows.filter(({ is_old }) => is_old).map(({ scan_id }) => scan_id));
    if (ids.size > 0) yield [...ids];
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNKS_PER_PAGE) return;
    after = last;
  }
};

const deleteScan = (database: Database, scanId: string): Promise<void> =>
  inTransaction(database, async (client) => {
    // Chunks go first: an end would record them without the ads deleted by then.
    await client.query('delete from ingest.staged_chunk where scan_id = $1', [scanId]);
    for (;;) {
      const { rowCount } = await client.query(
        `delete from ingest.staged_ad where ctid = any(array(
           select ctid from ingest.staged_ad where scan_id = $1 limit ${ADS_PER_PAGE}))`,
        [scanId],
      );
      if ((rowCount ?? 0) < ADS_PER_PAGE) return;
    }
  });

/**
 * All chunks of a scan go together: an ad may have entries in several, and a chunk without a row among others would be
 * refused as late. A later end of a scan that was not recorded fails with `ChunksMissing`.
 */
export const deleteOldScans = async (database: Database, signal: AbortSignal): Promise<void> => {
  for await (const scanIds of oldScans(database, signal))
    for (const scanId of scanIds) await deleteScan(database, scanId);
};

/** Pages of scans that never ended, and old digests. A page that outlives its digest counts as a first one. */
export const deleteOldCataloguePages = async (database: Database, signal: AbortSignal): Promise<void> => {
  for (const table of ['staged_storefront_page', 'staged_storefront_digest']) {
    while (!signal.aborted) {
      const { rowCount } = await database.query(
        `delete from ingest.${table} where ctid = any(array(
           select ctid from ingest.${table} where staged_at < now() - make_interval(days => $1)
           order by staged_at limit ${CATALOGUE_PAGES_PER_PAGE}))`,
        [STAGED_DAYS_MAX],
      );
      if ((rowCount ?? 0) < CATALOGUE_PAGES_PER_PAGE) break;
    }
  }
};
