import type { Statement } from '../define-projection.ts';

/**
 * True for changes newer than the event that last replaced the ad: the two streams of a moved ad apply in either order.
 */
const IS_NEWER = 'a.full_at < i.position';

/** Marks ads as missing, last seen by the last complete scan of their page. */
export const miss: Statement = {
  columns: { ad_id: 'text', position: 'bigint' },
  touches: ['ad', 'page'],
  sql: `
    update ad a set status = 'missing',
      seen_at = case when a.not_shown_since then a.seen_at else greatest(a.seen_at, p.complete_at) end
    from :input i left join ad k using (ad_id) left join page p on p.brand_id = k.brand_id and p.social_page_id = k.social_page_id
    where a.ad_id = i.ad_id and a.status = 'active' and ${IS_NEWER}`,
};

export const see: Statement = {
  columns: { ad_id: 'text', position: 'bigint', seen_at: 'timestamptz' },
  touches: ['ad'],
  sql: `
    update ad a set status = case when a.status = 'missing' then 'active' else a.status end,
      seen_at = greatest(a.seen_at, s.seen_at), not_shown_since = false
    from (
      select i.ad_id, max(i.seen_at) as seen_at from :input i join ad a using (ad_id) where ${IS_NEWER} group by i.ad_id
    ) s where a.ad_id = s.ad_id`,
};

export const cover: Statement = {
  columns: { brand_id: 'uuid', social_page_id: 'text', complete_at: 'timestamptz' },
  touches: ['page'],
  sql: `
    insert into page as p (brand_id, social_page_id, complete_at)
    select brand_id, social_page_id, max(complete_at) from :input i group by brand_id, social_page_id
    on conflict (brand_id, social_page_id) do update set complete_at = greatest(p.complete_at, excluded.complete_at)`,
};
