import { ads } from '#projections/ads/project.ts';
import { brands } from '#projections/brands/project.ts';
import { dailyActivity } from '#projections/daily-activity/project.ts';
import { freshness } from '#projections/freshness/project.ts';
import { newAdvertisers } from '#projections/new-advertisers/project.ts';
import { radar } from '#projections/radar/project.ts';
import { rankings } from '#projections/rankings/project.ts';
import { signals } from '#projections/signals/project.ts';
import { velocity } from '#projections/velocity/project.ts';
import {
  CATEGORY_NAMINGS,
  BRAND_FACETS,
  BRAND_REFERENCES,
  brandsWith,
  type Fill,
  run,
  statementOf,
} from './fill.ts';
import { TRACKED_BRANDS } from './fill-workspace.ts';
import { scaled } from '../runner/bench.ts';

/** Brands that are scanned daily, the biggest ones. */
const DAILY_BRANDS = scaled(5_000);
const DAYS_OF_DAILY_BRAND = 120;

const BRAND_COUNTS = `
  select b.brand_id, b.slug, b.domain, b.name, 'What ' || b.name || ' says of itself: ' || s.text as description, b.logo_url,
    b.country, b.is_public, b.indexable, b.category_path, b.category_ids, b.scanned_at - interval '1 day' as profiled_at,
    b.scanned_at, b.scanned_at as updated_at, coalesce(a.active_ads, 0) as active_ads, coalesce(a.total_ads, 0) as total_ads,
    coalesce(a.video, 0) as video, coalesce(a.image, 0) as image, coalesce(a.carousel, 0) as carousel,
    coalesce(a.dco, 0) as dco, coalesce(a.other, 0) as other,
    b.scanned_at::date as last_ad_seen_on
  from bench.brand b join bench.sentence s on s.n = b.n % ${scaled(90_000)}
  left join (
    select brand_n, count(*) filter (where not ended) as active_ads, count(*) as total_ads,
      count(*) filter (where not ended and format = 'video') as video,
      count(*) filter (where not ended and format = 'image') as image,
      count(*) filter (where not ended and format = 'carousel') as carousel,
      count(*) filter (where not ended and format = 'dco') as dco,
      count(*) filter (where not ended and format = 'other') as other
    from bench.ad group by brand_n
  ) a on a.brand_n = b.n`;

const brandColumns = `brand_id, slug, domain, name, description, logo_url, country, is_public, indexable, category_path,
  category_ids, profiled_at, scanned_at, updated_at, active_ads, total_ads,
  last_ad_seen_on`;

const fillBrands: Fill = {
  projection: brands,
  sql: [
    `insert into brand (${brandColumns}) select ${brandColumns} from (${BRAND_COUNTS}) b`,
    `insert into country (brand_id, country, ads)
      select brand_id, unnest(countries) as country, count(*) from bench.ad where not ended group by 1, 2`,
    `insert into scan (brand_id, date, scan_id, new_ads, retired_ads, seen)
      select brand_id, listed_on, '', count(*), count(*) filter (where ended), true from bench.ad where age < 120
      group by 1, 2
      union all select brand_id, scanned_at::date, 'last', 0, 0, true from bench.brand where scanned_at is not null`,
    `insert into brand_totals (brand_id, scanned_at, scan_id, stated_active_ads, stated_total_ads, active_ads, total_ads, looked_at)
      select brand_id, scanned_at, 'last', active_ads, total_ads, active_ads, total_ads, scanned_at from brand`,
    `insert into format_count (brand_id, video, image, carousel, dco, other)
      select brand_id, video, image, carousel, dco, other from (${BRAND_COUNTS}) b`,
    `insert into lifespan (brand_id, ad_id, days) select brand_id, ad_id, age / 2 from bench.ad where ended`,
    `insert into lifespan_sum (brand_id, days, ads) select brand_id, sum(days), count(*) from lifespan group by 1`,
    run(statementOf(brands, 'name_category'), CATEGORY_NAMINGS),
    'analyze category; analyze brand; analyze country; analyze scan; analyze brand_totals; analyze format_count; analyze lifespan; analyze lifespan_sum',
    run(statementOf(brands, 'refresh'), 'select brand_id from bench.brand'),
    run(statementOf(brands, 'take_stock'), 'select brand_id from bench.brand'),
  ],
};

const MEDIA = `case a.format when 'other' then '[]' else '[{"kind":"' || case a.format when 'video' then 'video' else 'image' end
  || '","url":"https://cdn.example.com/' || md5(a.ad_id) || md5(a.n::text) || '.mp4","poster_url":"https://cdn.example.com/'
  || md5(a.ad_id || 'p') || '.jpg"}]' end`;

const fillAds: Fill = {
  projection: ads,
  sql: [
    brandsWith(BRAND_REFERENCES),
    `insert into ad (ad_id, brand_id, social_page_id, page_name, status, format, body, title, link_description, caption, cta_type,
        cta_text, link_url, platforms, languages, countries, media, cards, versions, started_on, stopped_on, listed_on,
        first_seen_at, seen_at)
      select a.ad_id, a.brand_id, a.page_id, 'Page ' || a.page_id, a.status, a.format, c.body, c.title,
        case when a.n % 3 = 0 then left(c.body, 60) end, 'shop.example.com', a.cta_type,
        initcap(replace(a.cta_type, '_', ' ')), l.page_url, '{facebook,instagram}', '{en}', a.countries, (${MEDIA})::jsonb,
        case when a.format = 'carousel' then jsonb_build_array(
          jsonb_build_object('body', left(c.body, 80), 'title', c.title, 'link_description', null, 'cta_text', 'Shop now', 'link_url', l.page_url),
          jsonb_build_object('body', null, 'title', c.title, 'link_description', null, 'cta_text', 'Shop now', 'link_url', l.page_url))
        else '[]' end, '[]', a.listed_on, case when a.ended then a.listed_on + a.age / 2 end, a.listed_on,
        a.listed_on + interval '9 hours', case when a.ended then a.listed_on + a.age / 2 else a.scanned_at end
      from bench.ad a join bench.copy c on c.n = a.copy_n join bench.landing_page l on l.n = a.landing_n`,
    `insert into page (brand_id, social_page_id, complete_at)
      select brand_id, page_id, max(scanned_at) from bench.ad where page_id is not null group by 1, 2`,
    `insert into history (ad_id, position, at, change, detail)
      select ad_id, n, listed_on, 'started', '{"novelty":"news"}' from bench.ad`,
  ],
};

const AD_DOC = `'{"id":"' || a.ad_id || '","page":{"page_id":"' || coalesce(a.page_id, '0') || '","page_name":"Page"},"format":"'
  || a.format || '","title":' || to_json(c.title) || ',"body":' || to_json(left(c.body, 200)) || ',"started_on":"' || a.listed_on
  || '","url":"' || chr(1) || '/v1/ads/' || a.ad_id || '"}'`;

const fillRadar: Fill = {
  projection: radar,
  sql: [
    brandsWith(BRAND_REFERENCES),
    `insert into item (id, brand_id, observed_at, type, occurrence, ad)
      select i.id, a.brand_id, i.at, i.type, '"type":"' || i.type || '","observed_at":"' || bench.iso(i.at)
        || '","destination_url":null,"previous_destination_url":null,"basis":null,"stopped_on":null', ${AD_DOC}
      from bench.ad a join bench.copy c on c.n = a.copy_n
      cross join lateral (values
        (bench.id('started', a.n), 'ad_started', a.listed_on + bench.u(a.n, 61) * interval '1 day'),
        (bench.id('stopped', a.n), 'ad_stopped', a.listed_on + (0.2 + bench.u(a.n, 62)) * interval '40 days')
      ) i(id, type, at)
      where a.age < 180 and i.at <= a.scanned_at and (i.type = 'ad_started' or a.ended)`,
  ],
};

/** Brands with signals besides started and stopped ads, and their signals per year. */
const ACTIVE_BRANDS = scaled(20_000);
const ACTIVITY_OF_BRAND = 12;
const ACTIVITY = `array['ramp', 'drop', 'launch_burst', 'sale', 'new_landing_page', 'new_whitelisting_pair', 'format_mix_shift', 'long_runner_refreshed']`;

const fillSignals: Fill = {
  projection: signals,
  sql: [
    brandsWith(BRAND_REFERENCES),
    `insert into signal (id, brand_id, date, kind, observed_at, figures, about)
      select bench.uuid_of(brand_id || kind || date), brand_id, date, kind, max(at), jsonb_build_object('items', count(*)), '[]'
      from (
        select a.brand_id, i.kind, i.at, i.at::date as date from bench.ad a cross join lateral (values
          ('ads_started', a.listed_on + bench.u(a.n, 61) * interval '1 day'),
          ('ads_stopped', a.listed_on + (0.2 + bench.u(a.n, 62)) * interval '40 days')
        ) i(kind, at)
        where a.age < 365 and i.at <= a.scanned_at and (i.kind = 'ads_started' or a.ended)
      ) i group by brand_id, kind, date`,
    `insert into signal (id, brand_id, date, kind, observed_at, figures, about)
      select bench.id('activity' || k || ' ', n), brand_id, at::date, bench.one_of(${ACTIVITY}, bench.u(n * 100 + k, 64)), at,
        '{"items":80,"before":40,"after":80,"usual":3,"active_before":60,"format":"video","compared_with":"2026-11-01"}',
        jsonb_build_array(jsonb_build_object('ad_id', (700000000000000 + n)::text, 'page_id', (100000000 + n * 2)::text,
          'page_name', 'Page', 'role', 'CREATOR', 'destination_url', 'https://www.example.com/'))
      from (
        select b.n, b.brand_id, k, b.scanned_at - bench.u(b.n * 100 + k, 63) * interval '365 days' as at
        from bench.brand b, generate_series(1, ${ACTIVITY_OF_BRAND}) k where b.n <= ${ACTIVE_BRANDS}
      ) a on conflict do nothing`,
  ],
};

const DAYS = `
  select b.brand_id, current_date - d as date, 50 + (b.n + d * 7) % 90 as active_ads, (b.n + d) % 9 as new_ads,
    (b.n + d * 3) % 7 as retired_ads, (b.n + d) % 11 > 0 as reliable
  from bench.brand b, generate_series(0, ${DAYS_OF_DAILY_BRAND - 1}) d where b.n <= ${DAILY_BRANDS}`;
const DAY_COLUMNS = 'brand_id, date, active_ads, new_ads, retired_ads, reliable';

const fillDailyActivity: Fill = {
  projection: dailyActivity,
  sql: [`insert into day (${DAY_COLUMNS}) select ${DAY_COLUMNS} from (${DAYS}) d`],
};

const fillVelocity: Fill = {
  projection: velocity,
  sql: [
    `insert into day (${DAY_COLUMNS}) select ${DAY_COLUMNS} from (${DAYS}) d; analyze day`,
    run(
      statementOf(velocity, 'roll_up'),
      `select distinct brand_id, date_trunc('week', date)::date as week_start from day`,
    ),
  ],
};

/** Three reliable days: the last scan, and 9 and 15 days before. About half of the brands grew. */
const fillRankings: Fill = {
  projection: rankings,
  sql: [
    brandsWith(`brand_id, ${BRAND_FACETS}`),
    `insert into day (brand_id, date, active_ads, observed_at)
      select b.brand_id, b.scanned_at::date - d.back, k.active_ads * (100 - (d.back * (b.n % 21 - 10)) / 2) / 100, b.scanned_at - d.back * interval '1 day'
      from bench.brand b
      join (select brand_n, count(*) filter (where not ended) as active_ads from bench.ad group by 1) k on k.brand_n = b.n
      cross join (values (0), (9), (15)) d(back)`,
    'analyze day',
    run(statementOf(rankings, 'compare'), 'select brand_id from bench.brand'),
  ],
};

const fillNewAdvertisers: Fill = {
  projection: newAdvertisers,
  sql: [
    brandsWith(`brand_id, ${BRAND_FACETS}`),
    `update brand b set first_scan_at = now() - interval '200 days', scanned_at = s.scanned_at, active_ads = a.active_ads,
        first_ad_started_on = case when s.n % 4 = 0 then a.newest else a.oldest end
      from bench.brand s join (
        select brand_n, min(listed_on) as oldest, max(listed_on) as newest, count(*) filter (where not ended) as active_ads
        from bench.ad group by 1
      ) a on a.brand_n = s.n
      where b.brand_id = s.brand_id`,
  ],
};

const fillFreshness: Fill = {
  projection: freshness,
  sql: [
    `insert into brand (${BRAND_REFERENCES}, scanned_at, reliable_at, applied_at)
      select ${BRAND_REFERENCES}, scanned_at, scanned_at, scanned_at from bench.brand`,
    `insert into tracker (workspace_id, brand_id, cadence, tracked_at) ${TRACKED_BRANDS}`,
    `insert into tracker (brand_id, workspace_id, cadence, tracked_at)
      select brand_id, 'ws_' || w, case when (n + w) % 4 = 0 then 'daily' else 'weekly' end, now() - w * interval '1 day'
      from bench.brand, generate_series(1, 4) w where n <= ${scaled(20_000)}`,
    'analyze brand; analyze tracker',
    run(statementOf(freshness, 'compose'), 'select brand_id, null::text as workspace_id from bench.brand'),
  ],
};

export const FILLS_OF_LIBRARY: readonly Fill[] = [
  fillAds,
  fillBrands,
  fillRadar,
  fillSignals,
  fillDailyActivity,
  fillVelocity,
  fillRankings,
  fillNewAdvertisers,
  fillFreshness,
];
