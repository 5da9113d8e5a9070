/**
 * SQL of the changes of a batch that count for their ads, with `full_at` and `is_replaced`. Reads `source` with columns
 * `ad_id`, `position` and `is_full`, and a table `ad` with `full_at`: the log position of the event that last set all
 * columns of the ad.
 *
 * The events of an ad that changed its brand are in two streams, which may be applied in either order. A change older
 * than `full_at` belongs to the time before and is left out. `is_replaced` is true if the batch sets all columns, so
 * that nothing remains of the stored row.
 */
export const currentAdChanges = (source: string): string => `
  select * from (
    select x.*, f.full_at, a.ad_id is null or f.full_at > a.full_at as is_replaced
    from ${source} x left join ad a using (ad_id)
    join (select ad_id, max(position) filter (where is_full) as newest_full_at from ${source} y group by ad_id) b using (ad_id)
    cross join lateral (select coalesce(greatest(a.full_at, b.newest_full_at), 0) as full_at) f
  ) c where position >= full_at`;
