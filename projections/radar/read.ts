import { isoTimeMicrosSql } from '#contracts/values/time.ts';
import { readKeysetRows, SMALLEST_UUID } from '../sql/keyset-page.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { newestPerBrand } from '../sql/newest-first-page.ts';
import {
  createParameters,
  RADAR_ITEM_SQL,
  RADAR_TABLE,
  radarItems,
  radarPage,
  type RadarRow,
} from '../sql/radar-json.ts';

export type RadarFilter = {
  readonly brandIds: readonly string[];
  readonly since: string;
  readonly types?: readonly string[];
};

export const listRadar = async (db: ReadDatabase, filter: RadarFilter, page: PageRequest): Promise<Page> => {
  if (filter.brandIds.length === 0) return { items: [], next: null };
  const { values, parameter } = createParameters();
  const brands = `unnest(${parameter(filter.brandIds)}::uuid[]) as b(brand_id)`;
  const newestFilter = {
    ...RADAR_TABLE,
    since: { time: parameter(filter.since) },
    limit: parameter(page.limit + 1),
    kinds: filter.types === undefined ? null : parameter(filter.types),
    after: page.after === null ? null : ([parameter(page.after[0]), parameter(page.after[1])] as const),
  };
  const sql = radarItems(newestPerBrand(newestFilter, brands));
  return radarPage(await db.query<RadarRow>({ sql, values }), page.limit);
};

const CLOSED = `
  select ${RADAR_ITEM_SQL} as item,
    ${isoTimeMicrosSql('i.observed_at')} as observed_at, i.id
  from radar.item i join radar.brand b on b.brand_id = i.brand_id
  where i.brand_id = $1 and i.observed_at >= $2 and i.type = any($3::text[])
    and (i.observed_at, i.id) < ($4::timestamptz, $5::uuid)
  order by i.observed_at desc, i.id desc limit $6`;

export type ClosedRadarFilter = {
  readonly brandId: string;
  readonly since: string;
  readonly until: string;
  readonly types: readonly string[];
};

export const listClosedRadar = async (
  db: ReadDatabase,
  { brandId, since, until, types }: ClosedRadarFilter,
  page: PageRequest,
): Promise<Page> => {
  // The smallest id starts the page strictly before `until`.
  const query = { sql: CLOSED, values: [brandId, since, types], start: [until, SMALLEST_UUID] };
  return radarPage(await readKeysetRows<RadarRow>(db, query, page), page.limit);
};
