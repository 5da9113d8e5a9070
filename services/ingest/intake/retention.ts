import { type Database, inTransaction } from '#platform/postgres/pool.ts';

/**
 * Deletes the rows of staging that no decision needs any more, in pages, so that each statement is short however large the
 * tables are. Each deletion ends early when its signal is aborted, between two pages.
 */

/** Retention of staged parts in days. A scan whose end arrives later counts as abandoned by its collector. */
const STAGED_DAYS_MAX = 30;
/** Retention of the digests of parts in days, counted from the first arrival of the last chunk of a library scan. */
const DIGEST_DAYS_MAX = 30;
/** Rows that are looked at together. Scans have up to 100,000 chunks, and all of a scan go together. */
const CHUNKS_PER_PAGE = 20;
/** Rows that are deleted together: ads of an abandoned scan, and catalogue pages of up to a megabyte. */
const ADS_PER_PAGE = 10_000;
const CATALOGUE_PAGES_PER_PAGE = 200;

type Old = { readonly staged_at: string; readonly scan_id: string };
const FIRST: Old = { staged_at: '-infinity', scan_id: '00000000-0000-0000-0000-000000000000' };

/** Yields ids, in pages, of the scans whose chunks in this table are all older than `days`, the oldest first. */
const oldScans = async function* (
  database: Database,
  table: 'staged_chunk' | 'staged_digest',
  days: number,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  for (let after = FIRST; !signal.aborted; ) {
    const { rows } = await database.query<Old & { is_old: boolean }>(
      `with page as materialized (
         select staged_at, scan_id from ingest.${table}
         where staged_at < now() - make_interval(days => $1) and (staged_at, scan_id) > ($2::timestamptz, $3::uuid)
         order by staged_at, scan_id limit ${CHUNKS_PER_PAGE})
       select p.staged_at::text as staged_at, p.scan_id, not exists (
         select from ingest.${table} n
         where n.scan_id = p.scan_id and n.staged_at >= now() - make_interval(days => $1)) as is_old
       from page p order by p.staged_at, p.scan_id`,
      [days, after.staged_at, after.scan_id],
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
    // With its chunks an end would still record the scan, without the ads that are deleted by then.
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
 * Deletes parts of scans that never ended, always all chunks of a scan: an ad may have entries in several. If the end
 * arrives after that, it fails with `ChunksMissing`.
 */
export const deleteAbandonedScans = async (database: Database, signal: AbortSignal): Promise<void> => {
  for await (const scanIds of oldScans(database, 'staged_chunk', STAGED_DAYS_MAX, signal)) {
    for (const scanId of scanIds) await deleteScan(database, scanId);
  }
};

/**
 * Deletes the digests of scans that arrived long ago, always all digests of a scan. With only some left, the chunks
 * without a digest would be refused as arrived after the end.
 */
export const deleteOldChunkDigests = async (database: Database, signal: AbortSignal): Promise<void> => {
  for await (const scanIds of oldScans(database, 'staged_digest', DIGEST_DAYS_MAX, signal))
    await database.query('delete from ingest.staged_digest where scan_id = any($1::uuid[])', [scanIds]);
};

/**
 * Deletes catalogue pages of scans that never ended, and digests of pages that arrived long ago. A page that comes again
 * later than its digest is kept is treated as a first one.
 */
export const deleteOldCataloguePages = async (database: Database, signal: AbortSignal): Promise<void> => {
  for (const [table, days] of [
    ['staged_storefront_page', STAGED_DAYS_MAX],
    ['staged_storefront_digest', DIGEST_DAYS_MAX],
  ] as const) {
    while (!signal.aborted) {
      const { rowCount } = await database.query(
        `delete from ingest.${table} where ctid = any(array(
           select ctid from ingest.${table} where staged_at < now() - make_interval(days => $1)
           order by staged_at limit ${CATALOGUE_PAGES_PER_PAGE}))`,
        [days],
      );
      if ((rowCount ?? 0) < CATALOGUE_PAGES_PER_PAGE) break;
    }
  }
};
