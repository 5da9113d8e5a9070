import { mediaKeySql } from '#contracts/values/media/stored-media.ts';
import { addToCounters } from '../sql/counter-table.ts';
import { currentAdChanges } from '../sql/current-ad-changes.ts';
import type { Statement } from '../define-projection.ts';
import { countedTogether } from './pictures.ts';

export const PUBLIC_SCOPE = '00000000-0000-0000-0000-000000000000';

const MOVED = ['active', 'listed_on', 'format', 'cta_type'] as const;

const last = (column: string): string =>
  `(array_agg(${column} order by position desc) filter (where ${column} is not null))[1] as ${column}`;

/** `null` leaves a column unchanged unless `is_full`. Changes of one ad in a batch are ordered by position. */
export const move: Statement = {
  columns: {
    ad_id: 'text',
    brand_id: 'uuid',
    position: 'bigint',
    is_full: 'boolean',
    active: 'boolean',
    listed_on: 'date',
    format: 'text',
    cta_type: 'text',
  },
  touches: ['ad'],
  sql: `
    insert into ad as a (ad_id, full_at, brand_id, ${MOVED.join()})
    select ad_id, max(full_at), (array_agg(brand_id order by position desc))[1], ${MOVED.map(last).join()}
    from (${currentAdChanges(':input')}) i group by ad_id order by ad_id
    on conflict (ad_id) do update set brand_id = excluded.brand_id, full_at = excluded.full_at,
      ${MOVED.map(
        (column) =>
          `${column} = case when excluded.full_at > a.full_at then excluded.${column} else coalesce(excluded.${column}, a.${column}) end`,
      ).join()}`,
};

export const carry: Statement = {
  columns: { creative_key: 'text', ad_id: 'text', creative_id: 'uuid', first_seen_at: 'timestamptz' },
  touches: ['carriage'],
  sql: `
    insert into carriage as c (creative_key, ad_id, creative_id, first_seen_at)
    select creative_key, ad_id, creative_id, min(first_seen_at) from :input i
    group by creative_key, ad_id, creative_id order by creative_key, ad_id
    on conflict (creative_key, ad_id) do update set first_seen_at = excluded.first_seen_at
    where excluded.first_seen_at < c.first_seen_at`,
};

/** The oldest sighting, the newest measurement and the newest analysis of a file: columns that no other change sets. */
export const dateFile: Statement = {
  columns: {
    creative_key: 'text',
    stored_at: 'timestamptz',
    measured_at: 'timestamptz',
    read_at: 'timestamptz',
  },
  touches: [],
  sql: `
    insert into file as f (creative_key, stored_at, measured_at, read_at)
    select creative_key, min(stored_at), max(measured_at), max(read_at) from :input i
    group by creative_key order by creative_key
    on conflict (creative_key) do update set stored_at = least(f.stored_at, excluded.stored_at),
      measured_at = greatest(f.measured_at, excluded.measured_at), read_at = greatest(f.read_at, excluded.read_at)`,
};

/**
 * Refreshes the counts, brands and coverage of files and of those with the same picture. `source` selects the
 * `creative_key`, `before` is a step that runs with it. Arrays and `offset 0` keep the planner from reading whole
 * tables.
 */
const refresh = (source: string, columns: Statement['columns'], before = ''): Statement => ({
  columns,
  touches: [
    'carriage',
    'ad',
    'file_count',
    'file_scope',
    'coverage',
    'scope',
    'hashed_file',
    'near_hash',
    'recounted',
  ],
  sql: `
    with ${before} named as materialized (
      select distinct creative_key from (${source}) s
    ), hashes as materialized (
      select distinct o.hash from (
        select distinct hash from hashed_file where creative_key = any(array(select creative_key from named))
      ) h cross join lateral (${countedTogether('h.hash')}) o
      union select hash from recounted
    ), touched as materialized (
      select f.creative_key, f.facets, greatest(f.measured_at, f.read_at) as seen_at,
        f.media_url is not null or f.object_key is not null as stored,
        f.poster_url is not null or f.poster_object_key is not null or (f.media_kind = 'image'
          and (f.media_url is not null or f.object_key is not distinct from ${mediaKeySql('f.creative_key')})) as has_image,
        h.hash
      from (
        select creative_key from named
        union select creative_key from hashed_file where hash = any(array(select hash from hashes))
      ) t cross join lateral (select * from file where creative_key = t.creative_key offset 0) f
        left join lateral (select hash from hashed_file where creative_key = t.creative_key offset 0) h on true
      where f.media_kind is not null
    ), carried as materialized (
      select t.creative_key, t.hash, t.stored, a.ad_id, a.brand_id, coalesce(a.active, true) as active, a.listed_on
      from touched t join carriage c using (creative_key) join ad a using (ad_id)
    ), placed as (
      update carriage c set brand_id = x.brand_id, listed_on = x.listed_on, stored = x.stored
      from carried x where c.creative_key = x.creative_key and c.ad_id = x.ad_id
        and (c.brand_id, c.listed_on, c.stored) is distinct from (x.brand_id, x.listed_on, x.stored)
    ), archived as (
      update ad a set stored = x.stored from (
        -- The carriages of touched files still hold what they held before this statement.
        select k.ad_id, case when bool_or(k.stored) then true else exists (
          select from carriage o where o.ad_id = k.ad_id and o.stored
            and not exists (select from touched t where t.creative_key = o.creative_key)
        ) end as stored
        from carried k group by k.ad_id
      ) x where a.ad_id = x.ad_id and a.stored <> x.stored
    ), counting as (
      select creative_key as place, ad_id, active from carried where hash is null
      union all
      select p.hash, a.ad_id, coalesce(a.active, true)
      from (select distinct hash from touched where hash is not null) p
        cross join lateral (${countedTogether('p.hash')}) o
        cross join lateral (select creative_key from hashed_file where hash = o.hash offset 0) d
        cross join lateral (select ad_id from carriage where creative_key = d.creative_key offset 0) c
        cross join lateral (select ad_id, active from ad where ad_id = c.ad_id offset 0) a
    ), counts as materialized (
      select t.creative_key, coalesce(n.active_ads, 0) as active_ads, coalesce(n.total_ads, 0) as total_ads
      from touched t left join (
        select place, count(distinct ad_id) filter (where active) as active_ads, count(distinct ad_id) as total_ads
        from counting group by 1
      ) n on n.place = coalesce(t.hash, t.creative_key)
    ), counted as (
      insert into file_count as k (creative_key, active_ads, total_ads)
      select creative_key, active_ads, total_ads from counts order by creative_key
      on conflict (creative_key) do update set active_ads = excluded.active_ads, total_ads = excluded.total_ads
      where (k.active_ads, k.total_ads) is distinct from (excluded.active_ads, excluded.total_ads)
    ), own as materialized (
      select creative_key, brand_id as scope_id, max(listed_on) filter (where active) as newest_on,
        (array_agg(ad_id order by listed_on desc, ad_id desc) filter (where active))[1] as newest_ad_id
      from carried group by 1, 2
    ), scoped as materialized (
      select o.creative_key, o.scope_id, n.active_ads, o.newest_on, o.newest_ad_id, t.has_image, t.facets, t.seen_at
      from own o join touched t using (creative_key) join counts n using (creative_key)
      union all
      select t.creative_key, '${PUBLIC_SCOPE}', 0, null, null, false, t.facets, t.seen_at from touched t
      where exists (
        select from own o join brand b on b.brand_id = o.scope_id where o.creative_key = t.creative_key and b.is_public
      )
    ), before as materialized (
      select s.creative_key, s.scope_id, s.facets from touched join file_scope s using (creative_key)
    ), gone as (
      delete from file_scope s using before b where s.creative_key = b.creative_key and s.scope_id = b.scope_id
        and not exists (
          select from scoped x where x.creative_key = b.creative_key and x.scope_id = b.scope_id
        )
    ), moved as (
      select scope_id, unnest(facets) as facet, 1 as files from scoped
      union all select scope_id, unnest(facets), -1 from before
    ), ${addToCounters('coverage', ['scope_id', 'facet'], ['files'], 'moved')}, seen as (
      insert into scope as p (scope_id, seen_at)
      select scope_id, max(seen_at) from scoped where scope_id <> '${PUBLIC_SCOPE}' group by scope_id order by scope_id
      on conflict (scope_id) do update set seen_at = greatest(p.seen_at, excluded.seen_at)
    )
    insert into file_scope as s (creative_key, scope_id, active_ads, newest_on, newest_ad_id, has_image, facets)
    select creative_key, scope_id, active_ads, newest_on, newest_ad_id, has_image, facets from scoped
    order by creative_key, scope_id
    on conflict (creative_key, scope_id) do update set active_ads = excluded.active_ads,
      newest_on = excluded.newest_on, newest_ad_id = excluded.newest_ad_id, has_image = excluded.has_image,
      facets = excluded.facets
    where (s.active_ads, s.newest_on, s.newest_ad_id, s.has_image, s.facets) is distinct from
      (excluded.active_ads, excluded.newest_on, excluded.newest_ad_id, excluded.has_image, excluded.facets)`,
});

/** Runs after the statements of `pictures.ts`, which note changed hashes. */
export const refreshFile: Statement = {
  ...refresh(
    'select creative_key from :input i',
    { creative_key: 'text' },
    'recounted_now as (delete from recounted), ',
  ),
  runsLast: true,
};

export const refreshFilesOfAd = refresh('select c.creative_key from :input i join carriage c using (ad_id)', {
  ad_id: 'text',
});

/** An ad that moved to another brand may have taken the newest file with it. */
export const recountScope: Statement = {
  columns: { brand_id: 'uuid' },
  touches: ['file', 'file_scope', 'scope'],
  sql: `
    with seen as materialized (
      select s.scope_id, max(greatest(f.measured_at, f.read_at)) as seen_at
      from :input i join file_scope s on s.scope_id = i.brand_id join file f using (creative_key) group by 1
    ), left_out as (
      delete from scope p using :input j where p.scope_id = j.brand_id
        and not exists (select from seen where seen.scope_id = p.scope_id)
    )
    update scope p set seen_at = seen.seen_at from seen
    where p.scope_id = seen.scope_id and p.seen_at is distinct from seen.seen_at`,
};

/** Runs when a brand becomes public or stops being so. */
export const refreshFilesOfBrand = refresh(
  'select s.creative_key from :input i join file_scope s on s.scope_id = i.brand_id',
  { brand_id: 'uuid' },
);
