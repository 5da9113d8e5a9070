import { iso } from './json-text.ts';

/** SQL of one row: when any of the brands that a workspace tracks was last scanned, or one of them. */
export const scannedAtOfTracked = (workspace: string, brandId: string | null): string => `
  select ${iso('max(scanned_at)')} as as_of from freshness.tracker
  where workspace_id = ${workspace} ${brandId === null ? '' : `and brand_id = ${brandId}`}`;
