import type { Statement } from '../define-projection.ts';

/**
 * Stores items, one for each ad, type and scan. The event with the lowest log position decides the row: an item that
 * was reported, withdrawn and added again is the reported one. Streams may be applied in any order, so the mark may
 * be there before the item.
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
    doc: 'text',
  },
  touches: ['item', 'mark'],
  sql: `
    with first as materialized (
      select distinct on (ad_id, type, scan_id) * from :input i order by ad_id, type, scan_id, position
    )
    insert into item as t (id, brand_id, observed_at, type, doc, ad_id, scan_id, position, is_added, is_withdrawn)
    select f.id, coalesce(m.brand_id, f.brand_id), f.observed_at, f.type, f.doc, f.ad_id, f.scan_id, f.position, f.is_added,
      coalesce(m.is_withdrawn, false)
    from first f left join mark m using (ad_id, type, scan_id)
    on conflict (ad_id, type, scan_id) do update set id = excluded.id, brand_id = excluded.brand_id,
      observed_at = excluded.observed_at, doc = excluded.doc, position = excluded.position, is_added = excluded.is_added
    where excluded.position < t.position`,
};

/**
 * Marks items as withdrawn, or removes the mark. A brand that the mark states is that of the item. The event with the highest
 * log position decides.
 */
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
