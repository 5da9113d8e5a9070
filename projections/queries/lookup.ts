import type { ReadDatabase } from '#contracts/ports/read-database.ts';

/** Reads that find records by names and ids from outside. */

export type Found = { readonly id: string; readonly name: string | null; readonly brand_id: string | null };

export const findAdsNamed = (db: ReadDatabase, ids: readonly string[]): Promise<readonly Found[]> =>
  db.query<Found>({
    sql: 'select ad_id as id, title as name, brand_id from ads.ad where ad_id = any($1::text[]) order by ad_id',
    values: [ids],
  });

/** `owner_id` is the brand that owns the domain of the page. */
export const findLandingPagesNamed = (db: ReadDatabase, ids: readonly string[]): Promise<readonly Found[]> =>
  db.query<Found>({
    sql: `select landing_page_id as id, title as name, owner_id as brand_id from pages.page
          where landing_page_id = any($1::uuid[]) and is_public order by landing_page_id`,
    values: [ids],
  });

/**
 * Social pages by id or by one of the usernames, in lower case. Their brand is the one that is linked with the most
 * confidence; without a link, the one with most live ads on the page.
 */
export const findSocialPagesNamed = (
  db: ReadDatabase,
  ids: readonly string[],
  usernames: readonly string[],
): Promise<readonly Found[]> =>
  db.query<Found>({
    sql: `
      with named as (
        select unnest($1::text[]) as id
        union select social_page_id from social_pages.profile where lower(username) = any($2::text[])
      )
      select s.id, p.page_name as name, coalesce(l.brand_id, r.brand_id) as brand_id
      from named s left join social_pages.page p on p.social_page_id = s.id
      left join lateral (
        select brand_id from social_pages.link where social_page_id = s.id
        order by confidence desc nulls last, brand_id limit 1
      ) l on true
      left join lateral (
        select brand_id from social_pages.run where social_page_id = s.id
        order by active_ads desc, total_ads desc, brand_id limit 1
      ) r on true
      where p.social_page_id is not null or l.brand_id is not null or r.brand_id is not null order by s.id`,
    values: [ids, usernames],
  });
