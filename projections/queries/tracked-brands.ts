import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { BEFORE_NEWEST, type DatedPage, datedPageOfRows } from '../sql/keyset-page.ts';
import { freshnessText } from '../sql/json-text.ts';

/**
 * Reads tracking, summaries and freshness in one statement. Each brand is as of the older of the latter two; brands
 * without a projected profile are omitted.
 */
const PAGE = `
  select k.tracked_at, k.brand_id, '{"brand":' || b.summary || ',"cadence":"' || k.cadence || '","created_at":"'
    || k.tracked_at || '","freshness":' || ${freshnessText('k.cadence')} || '}' as item,
    ${isoTimeSql('least(b.as_of, coalesce(f.applied_at, b.profiled_at))')} as as_of
  from (
    select brand_id, cadence, tracked_at from tracking.tracked_brand
    where workspace_id = $1 and (tracked_at, brand_id) < ($2, $3::uuid)
    order by tracked_at desc, brand_id desc limit $4
  ) k
  left join brands.brand b using (brand_id)
  left join freshness.brand f using (brand_id)
  order by k.tracked_at desc, k.brand_id desc`;

type Row = {
  readonly tracked_at: string;
  readonly brand_id: string;
  readonly item: string | null;
  readonly as_of: string | null;
};

export const listTrackedBrands = async (
  db: ReadDatabase,
  workspaceId: string,
  page: PageRequest,
): Promise<DatedPage> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const found = await db.query<Row>({ sql: PAGE, values });
  return datedPageOfRows(found, page.limit, (last) => [last.tracked_at, last.brand_id]);
};
