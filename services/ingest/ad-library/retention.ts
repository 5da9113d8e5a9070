import type { Database } from '#platform/postgres/pool.ts';

/** Deletes the rows of staging that no decision needs any more. */

/** Retention of staged parts in days. A scan whose end arrives later counts as abandoned by its collector. */
const STAGED_DAYS_MAX = 30;

/**
 * Deletes parts of scans that never ended, always all chunks of a scan: an ad may have entries in several. If the end
 * arrives after that, it fails with `ChunksMissing`.
 */
export const deleteAbandonedScans = async (database: Database): Promise<void> => {
  const limit = [STAGED_DAYS_MAX];
  await database.query(
    `with old as (
       select scan_id from ingest.staged_chunk group by scan_id
       having max(staged_at) < now() - make_interval(days => $1)
     ), chunks as (
       delete from ingest.staged_chunk c using old where c.scan_id = old.scan_id)
     delete from ingest.staged_ad a using old where a.scan_id = old.scan_id`,
    limit,
  );
  await database.query(
    'delete from ingest.staged_storefront_page where staged_at < now() - make_interval(days => $1)',
    limit,
  );
};

/** Retention of the digests of a scan's chunks in days, counted from the first arrival of its last chunk. */
const CHUNK_DIGEST_DAYS_MAX = 30;

/**
 * Deletes the digests of scans that arrived long ago, always all digests of a scan. With only some left, the chunks
 * without a digest would be refused as arrived after the end.
 */
export const deleteOldChunkDigests = async (database: Database): Promise<void> => {
  await database.query(
    `delete from ingest.staged_digest where scan_id in (
       select scan_id from ingest.staged_digest group by scan_id
       having max(staged_at) < now() - make_interval(days => $1))`,
    [CHUNK_DIGEST_DAYS_MAX],
  );
};
