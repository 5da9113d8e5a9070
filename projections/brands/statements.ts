import { inWindowSql, WINDOW_DAYS } from '#contracts/values/windows.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { BASE_URL_SQL, unescapedBaseUrlSql } from '#contracts/values/base-url.ts';
import { categoryNameSql } from '../shared-tables/category-naming.ts';
import { addToCounters } from '../sql/counter-table.ts';
import type { Statement } from '../define-projection.ts';

/** Builds the category field by field, because jsonb has an order of its own. */
const categoryAt = (level: 0 | 1): string => `(
            select row_to_json(category_row) from (
              select c ->> 'id' as id, c ->> 'slug' as slug, (
                select ${categoryNameSql('n')} from category n where n.category_id = (c ->> 'id')::uuid) as name
              from (select r.category_path -> ${level} as c) level_row where c is not null
            ) category_row)`;

const IN_WEEK = inWindowSql('d.date', 't.looked_at', WINDOW_DAYS.week);

/**
 * Rewrites totals and JSON documents of `brands`, SQL of ids. The last 7 and 30 days end with the brand's own last scan, so
 * that a replay gives the same result.
 */
const rewriteDocuments = (brands: string): string => `
    update brand b set scanned_at = d.scanned_at, active_ads = d.active_ads, total_ads = d.total_ads,
      as_of = d.as_of, updated_at = greatest(b.profiled_at, d.scanned_at),
      new_ads_7d = d.new_ads_7d, last_ad_seen_on = d.last_ad_seen_on, reference = d.reference,
      summary = d.summary, breakdown = d.breakdown,
      detail = left(d.summary, -1) || ',' || substr(d.more, 2)
    from (
      select c.*,
        ${unescapedBaseUrlSql('row_to_json(reference_row)::text')} as reference,
        ${unescapedBaseUrlSql('row_to_json(summary_row)::text')} as summary,
        row_to_json(more_row)::text as more,
        row_to_json(breakdown_row)::text as breakdown
      from (
        select b.brand_id, b.slug, b.domain, b.name, b.description, b.logo_url, b.country, b.category_path, b.indexable,
          t.looked_at as scanned_at, coalesce(t.active_ads, 0) as active_ads, coalesce(t.total_ads, 0) as total_ads,
          coalesce(f.video, 0) as video, coalesce(f.image, 0) as image, coalesce(f.carousel, 0) as carousel,
          coalesce(f.dco, 0) as dco, coalesce(f.other, 0) as other,
          l.days as lifespan_days, l.ads as lifespan_ads, seen.date as seen_on,
          coalesce(t.looked_at, b.profiled_at) as as_of_,
          ${isoTimeSql('coalesce(t.looked_at, b.profiled_at)')} as iso,
          counts.*
        from brand b join ${brands} i using (brand_id) left join brand_totals t using (brand_id)
        left join format_count f using (brand_id) left join lifespan_sum l using (brand_id)
        left join lateral (
          select date from scan s where s.brand_id = b.brand_id and s.seen order by date desc limit 1
        ) seen on true cross join lateral (
          select coalesce(sum(d.new_ads) filter (where ${IN_WEEK}), 0)::bigint as new_7,
            coalesce(sum(d.new_ads), 0)::bigint as new_30,
            coalesce(sum(d.retired_ads) filter (where ${IN_WEEK}), 0)::bigint as retired_7,
            coalesce(sum(d.retired_ads), 0)::bigint as retired_30
          from scan d
          where d.brand_id = b.brand_id and ${inWindowSql('d.date', 't.looked_at', WINDOW_DAYS.month)}
        ) counts
        where b.slug is not null
      ) r
      cross join lateral (
        select r.brand_id, r.scanned_at, r.active_ads, r.total_ads, r.as_of_ as as_of, r.new_7 as new_ads_7d,
          r.seen_on as last_ad_seen_on
      ) c
      cross join lateral (
        select r.brand_id as id, r.slug, r.name, r.logo_url, ${BASE_URL_SQL} || '/v1/brands/' || r.slug as url
      ) reference_row
      cross join lateral (
        select r.brand_id as id, r.slug, r.name, r.domain, ${BASE_URL_SQL} || '/v1/brands/' || r.slug as url, r.logo_url,
          r.country, ${categoryAt(0)} as category, ${categoryAt(1)} as mid_category,
          r.active_ads, r.total_ads, r.new_7 as new_ads_7d, r.indexable, r.iso as as_of
      ) summary_row
      cross join lateral (
        select video, image, carousel, dco, other
        from (values (r.video, r.image, r.carousel, r.dco, r.other)) v(video, image, carousel, dco, other)
      ) formats_row
      cross join lateral (select row_to_json(formats_row) as formats, r.iso as as_of) breakdown_row
      cross join lateral (
        select r.description, r.total_ads - r.active_ads as inactive_ads, r.new_30 as new_ads_30d,
          r.retired_7 as retired_ads_7d, r.retired_30 as retired_ads_30d,
          round(r.lifespan_days::numeric / nullif(r.lifespan_ads, 0), 1)::float8 as avg_ad_lifespan_days,
          r.seen_on as last_ad_seen_at, row_to_json(formats_row) as formats,
          coalesce((
            select json_agg(json_build_object('country', t.country, 'ads', t.ads) order by t.ads desc, t.country)
            from (
              select k.country, k.ads from country k where k.brand_id = r.brand_id and k.ads > 0
              order by k.ads desc, k.country limit 10
            ) t), '[]'::json) as top_countries
      ) more_row
    ) d
    where b.brand_id = d.brand_id`;

const READ_BY_DOCUMENTS = [
  'brand',
  'brand_totals',
  'format_count',
  'country',
  'scan',
  'lifespan_sum',
  'category',
];

/** Stores totals of brands that are not registered yet, and so have no documents. */
export const takeTotalsOfUnknown: Statement = {
  columns: { brand_id: 'uuid' },
  touches: ['brand_totals', 'brand'],
  sql: `
    insert into brand (brand_id, scanned_at, active_ads, total_ads)
    select brand_id, t.looked_at, t.active_ads, t.total_ads
    from :input i join brand_totals t using (brand_id) left join brand b using (brand_id) where b.slug is null
    on conflict (brand_id) do update set scanned_at = excluded.scanned_at, active_ads = excluded.active_ads,
      total_ads = excluded.total_ads`,
};

export const refreshBrand: Statement = {
  columns: { brand_id: 'uuid' },
  touches: READ_BY_DOCUMENTS,
  sql: rewriteDocuments(':input'),
};

/**
 * Rewrites documents that show a changed category name. A first name needs no rewrite: its batch writes the documents.
 */
export const showCategoryNames: Statement = {
  columns: { category_id: 'uuid' },
  touches: READ_BY_DOCUMENTS,
  sql: `
    with renamed as materialized (
      select c.category_id, c.shown_name, ${categoryNameSql('c')} as name
      from category c join :input i using (category_id) where c.shown_name is distinct from ${categoryNameSql('c')}
    ), shown as (
      update category c set shown_name = r.name from renamed r where c.category_id = r.category_id
    ), affected as materialized (
      select brand_id from brand
      where exists (select from renamed where shown_name is not null)
        and category_ids && array(select category_id from renamed where shown_name is not null)
    )
    ${rewriteDocuments('affected')}`,
};

const hourOf = (time: string): string => `coalesce(date_trunc('hour', ${time}, 'UTC'), '-infinity')`;

/** Adds the difference between the brands' current and earlier contribution to `corpus_count`. */
export const takeStock: Statement = {
  columns: { brand_id: 'uuid' },
  touches: ['brand', 'counted_brand', 'corpus_count'],
  sql: `
    with after as materialized (
      select b.brand_id, coalesce(b.category_path -> 0 ->> 'slug', '') as category_slug, b.scanned_at, b.total_ads
      from brand b join :input i using (brand_id) where b.slug is not null
    ), moved as (
      select category_slug, ${hourOf('scanned_at')} as scanned_hour, 1 as brands, total_ads as ads from after
      union all
      select c.category_slug, ${hourOf('c.scanned_at')}, -1, -c.total_ads from counted_brand c join after using (brand_id)
    ), ${addToCounters('corpus_count', ['category_slug', 'scanned_hour'], ['brands', 'ads'], 'moved')}
    insert into counted_brand as c (brand_id, category_slug, scanned_at, total_ads)
    select brand_id, category_slug, scanned_at, total_ads from after
    on conflict (brand_id) do update set category_slug = excluded.category_slug, scanned_at = excluded.scanned_at,
      total_ads = excluded.total_ads
    where (c.category_slug, c.scanned_at, c.total_ads)
      is distinct from (excluded.category_slug, excluded.scanned_at, excluded.total_ads)`,
};
