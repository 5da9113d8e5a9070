import { isoTimeSql } from '#contracts/values/time.ts';

/** Returns SQL of one row: the last scan of any tracked brand of a workspace, or of one brand. */
export const scannedAtOfTracked = (workspace: string, brandId: string | null): string => `
  select ${isoTimeSql('max(scanned_at)')} as as_of from freshness.tracker
  where workspace_id = ${workspace} ${brandId === null ? '' : `and brand_id = ${brandId}`}`;
