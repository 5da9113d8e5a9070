import { AUDIENCE_SEGMENTS } from '#contracts/values/audience-segments.ts';
import { categories } from '#projections/categories/project.ts';
import { categoryTools } from '#projections/category-tools/project.ts';
import type { Projection } from '#projections/define-projection.ts';
import { splitTests } from '#projections/split-tests/project.ts';
import { store } from '#projections/store/project.ts';
import { tools } from '#projections/tools/project.ts';
import { traffic } from '#projections/traffic/project.ts';
import { CATEGORY_NAMINGS, type Fill, run, statementOf } from './fill.ts';
import { BRANDS } from './seeds.ts';
import { scaled } from '../runner/bench.ts';

const TOOLS = 3_000;
const SPLIT_TEST_TOOLS = 30;
const TOOLS_OF_SITE = 12;
const IS_ESTIMATED = 'bench.u(b.n, 201) < 0.6';
const SHOPS = scaled(3_000);
const PRODUCTS = scaled(150_000);
const POINTS_OF_SITE = 6;
const DAILY_SITES = scaled(200);
const DAYS_OF_SITE = 800;

const VISITS = 'exp(4 + 14 * power(bench.u(b.n, 202), 2))::bigint';
const SEGMENTS = Object.keys(AUDIENCE_SEGMENTS)
  .map((name, index) => `case when bench.u(b.n, ${210 + index}) < ${0.6 / (index + 1)} then '${name}' end`)
  .join();

const SIMILAR_SITES = `(
  select jsonb_agg(jsonb_build_object('domain', o.domain, 'brand_id', o.brand_id, 'affinity', round((1 - k * 0.04)::numeric, 2),
    'provider_category', 'Lifestyle/Fashion') order by k)
  from generate_series(1, 10) k join bench.brand o on o.n = 1 + floor(${BRANDS} * power(bench.u(b.n * 10 + k, 203), 2))::int)`;

const fillTraffic: Fill = {
  projection: traffic,
  sql: [
    `insert into site (brand_id, observed_at, monthly_visits, monthly_visits_on, global_ranking, global_ranking_on, category_ranking,
        category_ranking_on, provider_category, provider_category_on, top_country, top_country_on, top_country_share,
        top_country_share_on, demographics, demographics_on, segments, segments_on, similar_sites, similar_sites_on,
        is_public, top_id, mid_id, leaf_id)
      select b.brand_id, b.scanned_at, ${VISITS}, '2026-10-01', b.n * 7, '2026-10-01', b.n % 5000, '2026-10-01', 'Lifestyle/Fashion',
        '2026-10-01', b.country, '2026-10-01', 0.71, '2026-10-01',
        '{"female":0.61,"male":0.39,"age_18_24":0.2,"age_25_34":0.3,"age_35_44":0.2,"age_45_54":0.15,"age_55_64":0.1,"age_65_plus":0.05}',
        '2026-10-01', to_jsonb(array_remove(array[${SEGMENTS}], null)), '2026-10-01', ${SIMILAR_SITES}, '2026-10-01',
        b.is_public, b.category_ids[1], b.category_ids[2], b.category_ids[3]
      from bench.brand b where ${IS_ESTIMATED}`,
    `insert into point (brand_id, date, global_ranking, category_ranking, monthly_visits)
      select b.brand_id, (date '2026-10-01' - k * interval '1 month')::date, b.n * 7 + k, b.n % 5000, ${VISITS} / (1 + k % 3)
      from bench.brand b, generate_series(0, ${POINTS_OF_SITE - 1}) k where ${IS_ESTIMATED}`,
    `insert into point (brand_id, date, global_ranking)
      select b.brand_id, current_date - k, b.n * 7 + k from bench.brand b, generate_series(0, ${DAYS_OF_SITE - 1}) k
      where b.n <= ${DAILY_SITES} on conflict do nothing`,
    'analyze site',
    run(statementOf(traffic, 'join'), 'select brand_id from site'),
  ],
};

/** Random tools per site; those with low numbers are the most frequent. */
const INSTALLED = `
  select distinct b.brand_id, b.n, 'tool-' || floor(power(${TOOLS}, bench.u(b.n * 100 + k, 221)))::int as slug,
    bench.iso(b.scanned_at) as detected_at
  from bench.brand b, generate_series(1, ${TOOLS_OF_SITE}) k where ${IS_ESTIMATED}`;

const described = (count: number): string => `
  select 'tool-' || n as slug, bench.id('tool', n) as tool_id, 'Tool ' || n as name,
    bench.one_of('{Analytics,Payments,Email,Reviews,Subscriptions,A/B testing,CDN,Chat}', bench.u(n, 222)) as category,
    'https://tool' || n || '.example.com/' as website_url, now() as at from generate_series(1, ${count}) n`;

const describe = (projection: Projection, count = TOOLS): string =>
  run(statementOf(projection, 'describe'), described(count));

const fillTools: Fill = {
  projection: tools,
  sql: [
    describe(tools),
    `insert into brand (brand_id, is_public, category_id, scanned_at, observed_at, monthly_visits, monthly_visits_on, top_country, top_country_on)
      select b.brand_id, b.is_public, b.category_ids[1], case when ${IS_ESTIMATED} then b.scanned_at end, b.scanned_at,
        case when ${IS_ESTIMATED} and b.n % 4 > 0 then ${VISITS} end, '2026-10-01', b.country, '2026-10-01' from bench.brand b`,
    run(statementOf(tools, 'name_category'), `${CATEGORY_NAMINGS} where level = 1`),
    'analyze brand',
    run(statementOf(tools, 'detect'), `select brand_id, slug, detected_at from (${INSTALLED}) t`),
    'analyze installed',
    run(statementOf(tools, 'recount'), 'select brand_id from brand'),
    run(statementOf(tools, 'place'), 'select brand_id from brand'),
  ],
};

const fillCategoryTools: Fill = {
  projection: categoryTools,
  sql: [
    describe(categoryTools),
    'insert into brand (brand_id, is_public, category_ids) select brand_id, is_public, category_ids from bench.brand',
    `insert into installed (brand_id, slug, present) select brand_id, slug, true from (${INSTALLED}) t`,
    'analyze brand; analyze installed',
    run(statementOf(categoryTools, 'recount'), 'select brand_id from brand'),
  ],
};

const fillCategories: Fill = {
  projection: categories,
  sql: [
    run(statementOf(categories, 'name'), CATEGORY_NAMINGS),
    `insert into brand (brand_id, is_public, top_id, mid_id, leaf_id, profiled_at, scanned_at, active_ads, total_ads, observed_at, monthly_visits, monthly_visits_on)
      select b.brand_id, b.is_public, b.category_ids[1], b.category_ids[2], b.category_ids[3], b.scanned_at, b.scanned_at, 3, 5, b.scanned_at,
        case when ${IS_ESTIMATED} then ${VISITS} end, '2026-10-01' from bench.brand b`,
    'analyze brand; analyze category',
    run(statementOf(categories, 'tally'), 'select brand_id from brand'),
  ],
};

const fillSplitTests: Fill = {
  projection: splitTests,
  sql: [
    describe(splitTests, SPLIT_TEST_TOOLS),
    'update tool set is_read = true where length(slug) < 7',
    run(statementOf(splitTests, 'name_category'), `${CATEGORY_NAMINGS} where level = 1`),
    `insert into brand (brand_id, is_public, category_id, scanned_at)
      select b.brand_id, b.is_public, b.category_ids[1], case when ${IS_ESTIMATED} then b.scanned_at end from bench.brand b`,
    `insert into site_tool (brand_id, slug, present, readable, read_at)
      select brand_id, slug, true, length(slug) < 7, case when length(slug) < 7 then detected_at end
      from (${INSTALLED}) t where n % 3 = 0 and slug in (select slug from tool)`,
    `insert into test (id, brand_id, tool, test_id, name, type, state, state_basis, arms, first_seen_at)
      select bench.id('test' || t.slug || k, b.n), t.brand_id, t.slug, k::text, 'Test ' || k, (array['layout', 'price', 'offer'])[k],
        case when k = 1 then 'running' else 'stopped' end, 'published', '[{"name":"A","allocation":0.5},{"name":"B","allocation":0.5}]', t.read_at
      from site_tool t join bench.brand b using (brand_id), generate_series(1, 3) k where t.read_at is not null and b.n % 6 = 0`,
    // Temporary index for the statement below. The final indexes are created only after filling.
    'create index while_filling on test (brand_id); analyze brand; analyze site_tool; analyze test',
    run(statementOf(splitTests, 'recount'), 'select brand_id from brand'),
    'drop index while_filling',
  ],
};

const fillStore: Fill = {
  projection: store,
  sql: [
    `insert into product (brand_id, product_id, number, listed, domain, handle, title, product_type, vendor, published_at, image_url, variant_ids, first_seen_at)
      select b.brand_id, (7000000000 + k)::text, 7000000000 + k, true, b.domain, 'product-' || k, c.title, 'Shoes', b.name,
        '2026-01-01T00:00:00.000Z', 'https://cdn.example.com/' || md5(k::text) || '.jpg', array[k || '1', k || '2'], '2026-03-01T00:00:00.000Z'
      from generate_series(1, ${PRODUCTS}) k
      join bench.brand b on b.n = 1 + floor(${SHOPS} * power(bench.u(k, 231), 4))::int join bench.copy c on c.n = k`,
    `insert into variant (brand_id, product_id, variant_id, title, sku, price, compare_at_price, available)
      select brand_id, product_id, unnest(variant_ids), 'Small', 'SKU', '19.00', null, true from product`,
    `insert into scan (brand_id, scan_id, observed_at, late_arrival, complete, seen, products, missing, listed, returned, delisted, changed, cheaper, dearer, mixed, item)
      select b.brand_id, bench.id('scan' || d, b.n), now() - d * interval '1 day', false, true, k.products, k.products, 0, 3, 1, 2, 9, 4, 3, 2,
        '{"scanned_at":"' || bench.iso(now() - d * interval '1 day') || '","complete":true,"pages":2,"products_seen":' || k.products || ',"currency":"USD","collector":"public"}'
      from bench.brand b join (select brand_id, count(*) as products from product group by 1) k using (brand_id), generate_series(0, 90, 2) d`,
    `insert into change (brand_id, observed_at, product_id, type, item)
      select brand_id, now() - (number::bigint % 80) * interval '1 day', product_id, 'listed',
        '{"type":"listed","observed_at":"' || bench.iso(now()) || '","product_id":"' || product_id || '","title":' || to_json(title)
          || ',"price_move":null,"details":[],"variants_listed":0,"variants_delisted":0,"variants_changed":0,"variants":[]}' from product`,
    'analyze product; analyze variant',
    run(statementOf(store, 'compose'), 'select brand_id, product_id from product'),
  ],
};

export const FILLS_OF_SITES: readonly Fill[] = [
  fillTools,
  fillTraffic,
  fillCategoryTools,
  fillCategories,
  fillSplitTests,
  fillStore,
];
