import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type ItemsAsOf, readItemsAsOf } from '../shared-tables/applied-scan.ts';

const SIMILAR = `
  select '{"domain":' || to_json(x.domain) || ',"affinity":' || x.affinity
      || ',"provider_category":' || coalesce(to_json(coalesce(x.provider_category, t.provider_category))::text, 'null')
      || ',"brand":' || coalesce(b.reference, 'null')
      || ',"monthly_visits":' || coalesce(t.monthly_visits::text, 'null')
      || ',"global_ranking":' || coalesce(t.global_ranking::text, 'null') || '}' as item
  from traffic.site s
  cross join lateral (
    select * from rows from (
      jsonb_to_recordset(s.similar_sites) as (domain text, brand_id uuid, affinity float8, provider_category text)
    ) with ordinality as r (domain, brand_id, affinity, provider_category, place) limit $2
  ) x
  left join traffic.site t on t.brand_id = x.brand_id
  left join brands.brand b on b.brand_id = x.brand_id and b.is_public
  where s.brand_id = $1 order by x.place`;

const SIMILAR_AS_OF = `
  select array(${SIMILAR}) as items,
    (select ${isoTimeSql('observed_at')} from traffic.site where brand_id = $1) as "asOf"`;

/** Highest affinity first. `asOf` is `null` before the first estimate. */
export const readSimilarSites = (db: ReadDatabase, brandId: string, limit: number): Promise<ItemsAsOf> =>
  readItemsAsOf(db, SIMILAR_AS_OF, [brandId, limit]);
