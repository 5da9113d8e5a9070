/**
 * Changes of a batch that count for their ads: a moved ad's events are in two streams, applied in either order, so
 * changes older than `full_at` are left out. `source` has `ad_id`, `position`, `is_full`. `is_replaced`: the batch sets
 * all columns, and nothing of the stored row remains.
 */
export const currentAdChanges = (source: string): string => `
  select * from (
    select x.*, f.full_at, a.ad_id is null or f.full_at > a.full_at as is_replaced
    from ${source} x left join ad a using (ad_id)
    join (select ad_id, max(position) filter (where is_full) as newest_full_at from ${source} y group by ad_id) b using (ad_id)
    cross join lateral (select coalesce(greatest(a.full_at, b.newest_full_at), 0) as full_at) f
  ) c where position >= full_at`;
