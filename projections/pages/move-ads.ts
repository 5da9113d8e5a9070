import type { Statement } from '../define-projection.ts';
import { addToCounters } from '../sql/counter-table.ts';
import { currentAdChanges } from '../sql/current-ad-changes.ts';

/** Stands for an ad without a landing page, such as one that leads into an app. */
export const NO_PAGE = '00000000-0000-0000-0000-000000000000';

const pagesOf = (ads: string): string => `(
      select distinct a.ad_id, a.brand_id, p.landing_page_id from ${ads} a, unnest(a.card_landing_page_ids || a.landing_page_id) as p(landing_page_id)
      where a.active and p.landing_page_id is not null
    )`;

/**
 * `null` leaves a column unchanged unless `is_full`; changes of one ad are ordered by position. Card pages come as one
 * text `{…}`, because arrays of different lengths form no array. `also_led` are earlier pages of the ad. Only this
 * writes the counters of `page`, so `page` is not in `touches`. If the brand changes, all pages of the ad move.
 */
export const move: Statement = {
  columns: {
    ad_id: 'text',
    brand_id: 'uuid',
    position: 'bigint',
    is_full: 'boolean',
    landing_page_id: 'uuid',
    card_landing_page_ids: 'text',
    also_led: 'text',
    active: 'boolean',
  },
  touches: ['ad', 'lead', 'page_brand'],
  sql: `
    with i as materialized (select * from :input z),
    current as materialized (${currentAdChanges('i')}),
    last as (
      select ad_id, max(full_at) as full_at, bool_or(is_replaced) as is_replaced,
        (array_agg(brand_id order by position desc))[1] as brand_id,
        (array_agg(landing_page_id order by position desc) filter (where landing_page_id is not null))[1] as landing_page_id,
        (array_agg(card_landing_page_ids order by position desc) filter (where card_landing_page_ids is not null))[1] as card_landing_page_ids,
        (array_agg(active order by position desc) filter (where active is not null))[1] as active
      from current group by ad_id
    ), old as materialized (
      select a.ad_id, a.brand_id, a.landing_page_id, a.card_landing_page_ids, a.active from last join ad a using (ad_id)
    ), new as materialized (
      select l.ad_id, l.brand_id, l.full_at, o.brand_id as old_brand_id,
        nullif(coalesce(l.landing_page_id, case when not l.is_replaced then o.landing_page_id end), '${NO_PAGE}') as landing_page_id,
        coalesce(l.card_landing_page_ids::uuid[], case when not l.is_replaced then o.card_landing_page_ids end, '{}')
          as card_landing_page_ids,
        coalesce(l.active, o.active, true) as active
      from last l left join old o using (ad_id)
    ), kept as (
      insert into ad (ad_id, brand_id, landing_page_id, card_landing_page_ids, active, full_at)
      select ad_id, brand_id, landing_page_id, card_landing_page_ids, active, full_at from new
      on conflict (ad_id) do update set brand_id = excluded.brand_id, landing_page_id = excluded.landing_page_id,
        card_landing_page_ids = excluded.card_landing_page_ids, active = excluded.active, full_at = excluded.full_at
    ), led as (
      insert into lead (ad_id, landing_page_id, brand_id)
      select distinct on (l.ad_id, l.landing_page_id) l.ad_id, l.landing_page_id, coalesce(n.brand_id, a.brand_id) from (
        select ad_id, landing_page_id from i where landing_page_id <> '${NO_PAGE}'
        union all select ad_id, unnest(card_landing_page_ids::uuid[]) from i where card_landing_page_ids is not null
        union all select ad_id, unnest(also_led::uuid[]) from i where also_led is not null
      ) l left join new n using (ad_id) left join ad a using (ad_id)
      on conflict do nothing returning landing_page_id, brand_id
    ), taken as materialized (
      select l.ad_id, l.landing_page_id, n.old_brand_id, n.brand_id
      from new n join lead l using (ad_id) where n.old_brand_id <> n.brand_id
    ), handed_over as (
      update lead l set brand_id = t.brand_id from taken t
      where l.ad_id = t.ad_id and l.landing_page_id = t.landing_page_id
    ), moved as materialized (
      select landing_page_id, brand_id, sum(active_ads) as active_ads, sum(total_ads) as total_ads from (
        select landing_page_id, brand_id, 1 as active_ads, 0 as total_ads from ${pagesOf('new')} n
        union all select landing_page_id, brand_id, -1, 0 from ${pagesOf('old')} o
        union all select landing_page_id, brand_id, 0, 1 from led
        union all select landing_page_id, brand_id, 0, 1 from taken
        union all select landing_page_id, old_brand_id, 0, -1 from taken
      ) m
      group by landing_page_id, brand_id having sum(active_ads) <> 0 or sum(total_ads) <> 0
    ), counted as (
      insert into page as p (landing_page_id, active_ads, total_ads)
      select landing_page_id, sum(active_ads), sum(total_ads) from moved group by landing_page_id order by landing_page_id
      on conflict (landing_page_id) do update
        set active_ads = p.active_ads + excluded.active_ads, total_ads = p.total_ads + excluded.total_ads
    ), ${addToCounters('page_brand', ['landing_page_id', 'brand_id'], ['active_ads', 'total_ads'], 'moved')}
    select`,
};
