import type { Statement } from '../define-projection.ts';

/** Takes the column from the event that reported the item; `t` is the stored row. */
const ofReport = (column: string): string =>
  `${column} = case when excluded.position < t.position then excluded.${column} else t.${column} end`;

const REPORTED = `case when excluded.position < t.position then coalesce(excluded.reported, excluded.occurrence)
  else coalesce(t.reported, t.occurrence) end`;
const STATED = 'case when excluded.stated_at > t.stated_at then excluded.occurrence else t.occurrence end';

const ITEM_KEY = ['ad_id', 'type', 'scan_id'] as const;

/**
 * The lowest log position reports an item, the highest `stated_at` says what happened. Streams apply in any order, so a
 * correction or mark may precede the report.
 */
export const putItem: Statement = {
  columns: {
    id: 'uuid',
    ad_id: 'text',
    type: 'text',
    scan_id: 'text',
    brand_id: 'uuid',
    observed_at: 'timestamptz',
    position: 'bigint',
    is_added: 'boolean',
    occurrence: 'text',
    ad: 'text',
  },
  touches: ['item', 'mark'],
  rowsBy: { item: ITEM_KEY, mark: ITEM_KEY },
  sql: `
    with first as materialized (
      select distinct on (ad_id, type, scan_id) * from :input i order by ad_id, type, scan_id, position
    ), last as materialized (
      select distinct on (ad_id, type, scan_id) ad_id, type, scan_id, position as stated_at, occurrence as stated
      from :input i order by ad_id, type, scan_id, position desc
    )
    insert into item as t (id, brand_id, observed_at, type, ad_id, scan_id, position, stated_at, is_added, is_withdrawn,
      occurrence, ad, reported, reported_brand_id)
    select f.id, coalesce(m.brand_id, f.brand_id), f.observed_at, f.type, f.ad_id, f.scan_id, f.position, l.stated_at,
      f.is_added, coalesce(m.is_withdrawn, false), l.stated, f.ad, nullif(f.occurrence, l.stated), f.brand_id
    from first f join last l using (ad_id, type, scan_id) left join mark m using (ad_id, type, scan_id)
    on conflict (ad_id, type, scan_id) do update set
      ${['id', 'is_added', 'ad', 'reported_brand_id'].map(ofReport).join(', ')},
      occurrence = ${STATED}, reported = nullif(${REPORTED}, ${STATED}),
      position = least(t.position, excluded.position), stated_at = greatest(t.stated_at, excluded.stated_at)
    where excluded.position < t.position or excluded.stated_at > t.stated_at`,
};

/** The event with the highest log position decides, also on the brand of the item. */
export const markItem: Statement = {
  columns: {
    ad_id: 'text',
    type: 'text',
    scan_id: 'text',
    brand_id: 'uuid',
    position: 'bigint',
    is_withdrawn: 'boolean',
  },
  touches: ['item', 'mark'],
  rowsBy: { item: ITEM_KEY, mark: ITEM_KEY },
  sql: `
    with marked as (
      insert into mark as m (ad_id, type, scan_id, brand_id, position, is_withdrawn)
      select distinct on (ad_id, type, scan_id) ad_id, type, scan_id, brand_id, position, is_withdrawn
      from :input i order by ad_id, type, scan_id, position desc
      on conflict (ad_id, type, scan_id) do update set brand_id = coalesce(excluded.brand_id, m.brand_id),
        position = excluded.position, is_withdrawn = excluded.is_withdrawn
      where excluded.position > m.position
      returning *
    )
    update item t set is_withdrawn = m.is_withdrawn, brand_id = coalesce(m.brand_id, t.brand_id) from marked m
    where t.ad_id = m.ad_id and t.type = m.type and t.scan_id = m.scan_id`,
};
