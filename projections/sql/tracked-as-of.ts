import { isoTimeSql } from '#contracts/values/time.ts';

/**
 * Returns SQL of one row: the last scan of any tracked brand of a workspace, or of one brand, that a read model has
 * applied. `scans` is its table `applied_scan`; needs a row of `tracksFewBrands` as `few`. A workspace without a scan
 * gets the newest scan of the corpus.
 *
 * With many brands, the index of freshness names the last scanned one. If the read model has applied that scan, it is
 * the answer; otherwise the read model is behind, and all tracked brands are looked up.
 */
export const scannedAtOfTracked = (scans: string, workspace: string, brandId: string | null): string => `
  select ${isoTimeSql(`coalesce(
    (select w.scanned_at from (
      select brand_id, scanned_at from freshness.tracker
      where workspace_id = ${workspace} and scanned_at is not null and not (select so from few)
      order by scanned_at desc limit 1
    ) k join ${scans} w using (brand_id) where w.scanned_at >= k.scanned_at),
    (select max(w.scanned_at) from tracking.tracked_brand t join ${scans} w using (brand_id)
      where t.workspace_id = ${workspace} ${brandId === null ? '' : `and t.brand_id = ${brandId}`}),
    (select max(w.scanned_at) from ${scans} w))`)} as as_of`;
