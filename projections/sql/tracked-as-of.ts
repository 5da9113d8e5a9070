import { isoTimeSql } from '#contracts/values/time.ts';

/**
 * Last scan of a workspace's tracked brands, or of one, that the read model has applied; else the corpus' newest.
 * `scans` is its table `applied_scan`; needs `tracksFewBrands` as `few`. With many brands it asks freshness for the
 * last scanned one, and looks up all only if the read model is behind that scan.
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
