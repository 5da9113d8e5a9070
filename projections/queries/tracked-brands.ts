import { BEFORE_NEWEST, keysetPage } from '../sql/keyset-page.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { freshnessText } from '../sql/json-text.ts';

/**
 * A page of tracked brands in one statement over three read models: tracking, summaries and freshness. A
 * brand whose profile is not projected yet is left out of its page.
 */
const PAGE = `
  select k.tracked_at, k.brand_id, '{"brand":' || b.summary || ',"cadence":"' || k.cadence || '","created_at":"'
    || k.tracked_at || '","freshness":' || ${freshnessText('k.cadence')} || '}' as item
  from (
    select brand_id, cadence, tracked_at from tracking.tracked_brand
    where workspace_id = $1 and (tracked_at, brand_id) < ($2, $3::uuid)
    order by tracked_at desc, brand_id desc limit $4
  ) k
  left join brands.brand b using (brand_id)
  left join freshness.brand f using (brand_id)
  order by k.tracked_at desc, k.brand_id desc`;

type Row = { readonly tracked_at: string; readonly brand_id: string; readonly item: string | null };

/** Lists the tracked brands of a workspace, newest first. */
export const listTrackedBrands = (db: ReadDatabase, workspaceId: string, page: PageRequest): Promise<Page> =>
  keysetPage<Row>(
    db,
    {
      sql: PAGE,
      values: [workspaceId],
      start: BEFORE_NEWEST,
      toItem: ({ item }) => item,
      cursorOf: (last) => [last.tracked_at, last.brand_id],
    },
    page,
  );
