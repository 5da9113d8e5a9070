import type { Statement } from '../define-projection.ts';

/** Scope id of live landing pages on hosts of public US brands. */
export const OWN_HOSTS_SCOPE = '00000000-0000-0000-0000-000000000000';

/**
 * Writes no column that other changes set, so their order does not matter. `assumed_at`, from corrections without a
 * time, counts only until another event tells the time.
 */
export const meet: Statement = {
  columns: {
    landing_page_id: 'uuid',
    page_url: 'text',
    host: 'text',
    domains: 'text[]',
    at: 'timestamptz',
    assumed_at: 'timestamptz',
  },
  touches: [],
  sql: `
    with i as materialized (
      select landing_page_id, min(page_url) as page_url, min(host) as host, min(domains) as domains,
        min(at) as first_at, max(at) as last_at, min(assumed_at) as assumed_at
      from :input x group by landing_page_id
    ), placed as (
      insert into page_domain (domain, landing_page_id) select d.domain, i.landing_page_id from i, unnest(i.domains) as d(domain)
      on conflict do nothing
    ), addressed as (
      insert into address (landing_page_id, page_url) select landing_page_id, page_url from i order by landing_page_id on conflict do nothing
    )
    insert into page as p (landing_page_id, page_url, host, told_first_at, told_last_at, assumed_at)
    select landing_page_id, page_url, host, first_at, last_at, assumed_at from i order by landing_page_id
    on conflict (landing_page_id) do update set page_url = excluded.page_url, host = excluded.host,
      told_first_at = least(p.told_first_at, excluded.told_first_at),
      told_last_at = greatest(p.told_last_at, excluded.told_last_at),
      assumed_at = least(p.assumed_at, excluded.assumed_at)`,
};

/** Writes no column that other changes set, as `meet`. */
export const scrapeTime: Statement = {
  columns: { landing_page_id: 'uuid', scraped_at: 'timestamptz' },
  touches: [],
  sql: `
    insert into page as p (landing_page_id, scraped_at)
    select landing_page_id, max(scraped_at) from :input i group by landing_page_id
    on conflict (landing_page_id) do update set scraped_at = greatest(p.scraped_at, excluded.scraped_at)`,
};

/** Among classifications of the same time, the one that sorts last counts. Writes no column that other changes set. */
export const classify: Statement = {
  columns: { landing_page_id: 'uuid', page_type: 'text', confidence: 'float8', classified_at: 'timestamptz' },
  touches: [],
  sql: `
    insert into page as p (landing_page_id, page_type, confidence, classified_at)
    select distinct on (landing_page_id) landing_page_id, page_type, confidence, classified_at from :input i
    order by landing_page_id, classified_at desc, page_type collate "C" desc, confidence desc
    on conflict (landing_page_id) do update set page_type = excluded.page_type,
      confidence = excluded.confidence, classified_at = excluded.classified_at
    where p.classified_at is null or excluded.classified_at > p.classified_at
      or (excluded.classified_at = p.classified_at
        and (excluded.page_type collate "C", excluded.confidence) > (p.page_type collate "C", p.confidence))`,
};

/** Only 404 and 410 remove a page. A shop that rejects visitors is still live. */
const IS_LIVE = 'coalesce(p.http_status not in (404, 410), true)';

const refresh = (source: string, columns: Statement['columns']): Statement => ({
  columns,
  touches: ['page', 'page_brand', 'page_scope'],
  sql: `
    with touched as materialized (select distinct landing_page_id from (${source}) s),
    owner as (
      select distinct on (d.landing_page_id) d.landing_page_id, b.brand_id, b.is_public, b.country
      from touched join page_domain d using (landing_page_id) join brand b on b.domain = d.domain
      order by d.landing_page_id, length(d.domain) desc
    ), related as (
      select landing_page_id, brand_id from owner
      union select landing_page_id, brand_id from touched join page_brand using (landing_page_id)
    ), public_scope as materialized (
      select distinct r.landing_page_id, s.scope_id from related r join brand b using (brand_id)
      cross join lateral unnest(array_append(b.category_ids, b.brand_id)) as s(scope_id) where b.is_public
    ), now as materialized (
      select p.landing_page_id, p.page_type, p.first_seen_at, p.total_ads, o.brand_id as owner_id,
        exists (select from public_scope f where f.landing_page_id = p.landing_page_id) as is_public,
        ${IS_LIVE} as is_live, coalesce(o.is_public and o.country = 'US', false) as is_listed
      from touched join page p using (landing_page_id) left join owner o using (landing_page_id)
    ), kept as (
      update page p set owner_id = n.owner_id, is_public = n.is_public,
        listed_since = n.first_seen_at, listed_ads = n.total_ads
      from now n where p.landing_page_id = n.landing_page_id and (p.owner_id, p.is_public, p.listed_since, p.listed_ads)
        is distinct from (n.owner_id, n.is_public, n.first_seen_at, n.total_ads)
    ), marked as (
      update page_brand r set is_listed = true from touched t where r.landing_page_id = t.landing_page_id and not r.is_listed
    ), scoped as materialized (
      select n.landing_page_id, f.scope_id, n.page_type, n.first_seen_at, n.total_ads
      from now n join public_scope f using (landing_page_id) where n.is_live
      union all
      select landing_page_id, '${OWN_HOSTS_SCOPE}'::uuid, page_type, first_seen_at, total_ads from now where is_live and is_listed
    ), unlisted as (
      delete from page_scope s using touched t where s.landing_page_id = t.landing_page_id
        and not exists (select from scoped x where x.landing_page_id = s.landing_page_id and x.scope_id = s.scope_id)
    )
    insert into page_scope as s (landing_page_id, scope_id, page_type, first_seen_at, total_ads)
    select landing_page_id, scope_id, page_type, first_seen_at, total_ads from scoped order by landing_page_id, scope_id
    on conflict (landing_page_id, scope_id) do update
      set page_type = excluded.page_type, first_seen_at = excluded.first_seen_at, total_ads = excluded.total_ads
      where (s.page_type, s.first_seen_at, s.total_ads)
        is distinct from (excluded.page_type, excluded.first_seen_at, excluded.total_ads)`,
});

export const refreshPage = refresh('select landing_page_id from :input i', { landing_page_id: 'uuid' });

export const refreshPagesOfBrand = refresh(
  `select p.landing_page_id from :input i join page_brand p using (brand_id)
   union select d.landing_page_id from :input i join brand b using (brand_id) join page_domain d on d.domain = b.domain`,
  { brand_id: 'uuid' },
);

const AD = { ad_id: 'text' };

/** Skips pages that have a row already. */
export const placePagesOfAd = refresh(
  'select l.landing_page_id from :input i join lead l using (ad_id) join page p using (landing_page_id) where p.listed_ads is null',
  AD,
);

/** Covers every page of a moved ad, because the earlier brand may have left them. */
export const refreshPagesOfAd = refresh(
  'select l.landing_page_id from :input i join lead l using (ad_id)',
  AD,
);

/** Adds new brands to all pages that the ad ever led to, and copies counts. Reads one row if neither changed. */
export const relistPagesOfAd: Statement = {
  columns: AD,
  touches: ['page', 'page_brand', 'page_scope'],
  sql: `
    with touched as materialized (
      select p.landing_page_id, p.page_type, p.first_seen_at, p.total_ads, ${IS_LIVE} as is_live,
        (p.listed_since, p.listed_ads) is distinct from (p.first_seen_at, p.total_ads) as is_moved
      from (select distinct l.landing_page_id from :input i join lead l using (ad_id)) t join page p using (landing_page_id)
      where p.listed_ads is not null
    ), met as materialized (
      select r.landing_page_id, r.brand_id, coalesce(b.is_public, false) as is_public, b.category_ids
      from touched join page_brand r using (landing_page_id) left join brand b using (brand_id) where not r.is_listed
    ), marked as (
      update page_brand r set is_listed = true from met m where r.landing_page_id = m.landing_page_id and r.brand_id = m.brand_id
    ), shown as (
      select landing_page_id, bool_or(is_public) as is_public from met group by landing_page_id
    ), kept as (
      update page p set is_public = p.is_public or coalesce(s.is_public, false),
        listed_since = t.first_seen_at, listed_ads = t.total_ads
      from touched t left join shown s using (landing_page_id) where p.landing_page_id = t.landing_page_id and (t.is_moved or s.is_public)
    ), relisted as (
      update page_scope s set first_seen_at = t.first_seen_at, total_ads = t.total_ads
      from touched t where t.is_moved and s.landing_page_id = t.landing_page_id
    )
    insert into page_scope (landing_page_id, scope_id, page_type, first_seen_at, total_ads)
    select distinct t.landing_page_id, s.scope_id, t.page_type, t.first_seen_at, t.total_ads
    from touched t join met m using (landing_page_id) cross join lateral unnest(array_append(m.category_ids, m.brand_id)) as s(scope_id)
    where m.is_public and t.is_live order by t.landing_page_id, s.scope_id
    on conflict (landing_page_id, scope_id) do nothing`,
};
