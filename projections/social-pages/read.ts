import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type ItemsAsOf, itemsAsOfSql, readItemsAsOf } from '../shared-tables/applied-scan.ts';
import {
  LEAKAGE_PAGES_MAX,
  PROFILES_SHOWN_MAX,
  REUSE_PAGES_MAX,
  REUSED_TEXTS_MAX,
  SOCIAL_PAGES_MAX,
} from '#contracts/resources/corpus/social-page.ts';

/** A page linked in another role or to another brand only is a third party's. An unlinked page's owner is unknown. */
const OWN_ROLES = `('OFFICIAL', 'REGIONAL')`;

export const AD_PAGE_SQL = `json_build_object('page_id', p.social_page_id, 'page_name', n.page_name)`;

/** Newest over all sources. At equal times the first source by name wins. */
const newest = (field: string): string =>
  `(array_agg(f.${field} order by f.observed_at desc, f.source collate "C") filter (where f.${field} is not null))[1]`;

const LINKED_PAGES = itemsAsOfSql(
  'social_pages',
  `
  select json_build_object(
    'page_id', l.social_page_id, 'page_name', n.page_name, 'role', l.role, 'confidence', l.confidence,
    'active_ads', coalesce(r.active_ads, 0), 'total_ads', coalesce(r.total_ads, 0),
    'username', f.username, 'page_category', f.category, 'verified', f.verified,
    'followers', f.followers, 'likes', f.likes, 'profiles', coalesce(f.profiles, '[]'::json))::text as item
  from social_pages.link l
  left join social_pages.run r on r.social_page_id = l.social_page_id and r.brand_id = l.brand_id
  left join social_pages.page n on n.social_page_id = l.social_page_id
  left join lateral (
    select ${newest('username')} as username, ${newest('category')} as category, ${newest('verified')} as verified,
      ${newest('followers')} as followers, ${newest('likes')} as likes,
      json_agg(json_build_object(
        'source', f.source, 'observed_at', ${isoTimeSql('f.observed_at')}, 'page_name', f.page_name,
        'username', f.username, 'page_category', f.category, 'verified', f.verified,
        'followers', f.followers, 'likes', f.likes
      ) order by f.observed_at desc, f.source collate "C") filter (where f.place <= ${PROFILES_SHOWN_MAX}) as profiles
    from (
      select *, row_number() over (order by observed_at desc, source collate "C") as place
      from social_pages.profile where social_page_id = l.social_page_id
    ) f
  ) f on true
  where l.brand_id = $1
  order by coalesce(r.active_ads, 0) desc, coalesce(r.total_ads, 0) desc, l.social_page_id limit ${SOCIAL_PAGES_MAX}`,
);

export const listSocialPages = (db: ReadDatabase, brandId: string): Promise<ItemsAsOf> =>
  readItemsAsOf(db, LINKED_PAGES, [brandId]);

const LEAKAGE = itemsAsOfSql(
  'social_pages',
  `
  with p as (
    select r.social_page_id, r.active_ads, l.role,
      case when r.social_page_id = '' then 'unnamed' when l.role in ${OWN_ROLES} then 'own'
        when l.role is not null
          or exists (select from social_pages.link o where o.social_page_id = r.social_page_id) then 'third'
        else 'unlinked' end as whose
    from social_pages.run r
    left join social_pages.link l on l.social_page_id = r.social_page_id and l.brand_id = r.brand_id
    where r.brand_id = $1 and r.active_ads > 0
  )
  select json_build_object(
    'active_ads', coalesce(sum(active_ads), 0),
    'own_page_ads', coalesce(sum(active_ads) filter (where whose = 'own'), 0),
    'third_party_ads', coalesce(sum(active_ads) filter (where whose = 'third'), 0),
    'unlinked_page_ads', coalesce(sum(active_ads) filter (where whose = 'unlinked'), 0),
    'unnamed_page_ads', coalesce(sum(active_ads) filter (where whose = 'unnamed'), 0),
    'own_pages', count(*) filter (where whose = 'own'),
    'third_party_pages', count(*) filter (where whose = 'third'),
    'unlinked_pages', count(*) filter (where whose = 'unlinked'),
    'largest_third_party_pages', coalesce((
      select json_agg(json_build_object('page', ${AD_PAGE_SQL}, 'role', p.role, 'active_ads', p.active_ads)
        order by p.active_ads desc, p.social_page_id)
      from (
        select * from p where whose = 'third' order by active_ads desc, social_page_id limit ${LEAKAGE_PAGES_MAX}
      ) p left join social_pages.page n on n.social_page_id = p.social_page_id), '[]'::json))::text as item
  from p`,
);

/** Active ads on own, third parties' and unlinked pages as JSON text, with the brand's last scan. */
export const readLeakage = async (
  db: ReadDatabase,
  brandId: string,
): Promise<{ readonly data: string; readonly asOf: string | null }> => {
  const { items, asOf } = await readItemsAsOf(db, LEAKAGE, [brandId]);
  return { data: items[0] ?? '{}', asOf };
};

/** For a text on more pages, the linked pages are checked instead. */
const PAGES_TRIED_MAX = 300;

// Subtracts ads on linked pages from all ads, so that a text on thousands of pages needs no scan over all of them.
const COPY_REUSE = itemsAsOfSql(
  'social_pages',
  `
  with linked as materialized (
    select social_page_id from social_pages.link where brand_id = $1
  ), own as (
    select t.copy_key, sum(t.active_ads) as brand_ads
    from (select social_page_id from linked union all select '') l
    join social_pages.copy_run t on t.brand_id = $1 and t.social_page_id = l.social_page_id
    where t.active_ads > 0 group by t.copy_key
  ), reused as (
    select o.copy_key, o.brand_ads, t.active_ads - coalesce(h.active_ads, 0) as foreign_ads,
      t.pages - coalesce(h.pages, 0) as foreign_pages
    from own o join social_pages.copy_total t using (copy_key)
    left join lateral (
      select sum(p.active_ads) as active_ads, count(*) as pages
      from (
        select p.active_ads from (
          select active_ads, social_page_id in (select social_page_id from linked) as is_linked from social_pages.copy_page
          where t.pages <= ${PAGES_TRIED_MAX} and copy_key = o.copy_key and active_ads > 0
        ) p where p.is_linked
        union all
        select p.active_ads from linked l
        join social_pages.copy_page p on p.copy_key = o.copy_key and p.social_page_id = l.social_page_id
        where t.pages > ${PAGES_TRIED_MAX} and p.active_ads > 0
      ) p
    ) h on true
    where t.active_ads > coalesce(h.active_ads, 0)
    order by 3 desc, o.brand_ads desc, o.copy_key limit ${REUSED_TEXTS_MAX}
  )
  select json_build_object(
    'body', c.body, 'brand_ads', r.brand_ads, 'foreign_ads', r.foreign_ads, 'foreign_pages', r.foreign_pages,
    'largest_foreign_pages', (
      select json_agg(json_build_object('page', ${AD_PAGE_SQL}, 'active_ads', p.active_ads)
        order by p.active_ads desc, p.social_page_id)
      from (
        select t.social_page_id, t.active_ads from social_pages.copy_page t
        where t.copy_key = r.copy_key and t.active_ads > 0 and t.social_page_id not in (select social_page_id from linked)
        order by t.active_ads desc, t.social_page_id limit ${REUSE_PAGES_MAX}
      ) p left join social_pages.page n on n.social_page_id = p.social_page_id))::text as item
  from reused r join social_pages.copy c using (copy_key)
  order by r.foreign_ads desc, r.brand_ads desc, r.copy_key`,
);

export const listReusedCopy = (db: ReadDatabase, brandId: string): Promise<ItemsAsOf> =>
  readItemsAsOf(db, COPY_REUSE, [brandId]);

export const readLinkedPageIds = async (
  db: ReadDatabase,
  domains: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const rows = await db.query<{ domain: string; page_ids: readonly string[] }>({
    sql: `select b.domain, array_agg(l.social_page_id order by l.social_page_id) as page_ids
          from brands.brand b join social_pages.link l on l.brand_id = b.brand_id
          where b.domain = any($1::text[]) group by b.domain`,
    values: [domains],
  });
  return new Map(rows.map(({ domain, page_ids }) => [domain, page_ids]));
};
