import { isoTimeMicrosSql } from '#contracts/values/time.ts';
import { pageOfRows } from './keyset-page.ts';
import type { Page } from '#contracts/ports/read-database.ts';
import { type Fragment, raw, sql } from './sql-tag.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';

export const RADAR_ITEM_SQL = `'{"id":"' || i.id || '",' || i.occurrence || ',"ad":' || i.ad || ',"correction":' ||
  case when i.is_withdrawn then '"withdrawn"' when i.is_added then '"added"'
    when i.reported is not null or i.brand_id <> i.reported_brand_id then '"changed"' else 'null' end ||
  ',"brand":' || ${BRAND_REFERENCE_SQL} || '}'`;

/** `item, observed_at, id` of these keys, newest first. */
export const radarItems = (keys: Fragment) => sql.fragment`
  select ${raw(RADAR_ITEM_SQL)} as item, ${raw(isoTimeMicrosSql('k.observed_at'))} as observed_at, k.id
  from (${keys}) k join radar.item i using (id) join radar.brand b on b.brand_id = i.brand_id
  order by k.observed_at desc, k.id desc`;

export const RADAR_TABLE = {
  table: sql.fragment`radar.item`,
  kind: sql.fragment`type`,
  scans: sql.fragment`radar.applied_scan`,
  ofScansOnly: true,
} as const;

export type RadarRow = { readonly item: string; readonly observed_at: string; readonly id: string };

export const radarPage = (rows: readonly RadarRow[], limit: number): Page =>
  pageOfRows(rows, limit, {
    toItem: ({ item }) => item,
    cursorOf: (last) => [last.observed_at, last.id],
  });
