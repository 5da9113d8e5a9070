import { operators } from '#projections/operators/project.ts';
import { pages } from '#projections/pages/project.ts';
import { partnerships } from '#projections/partnerships/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { BRAND_FACETS, BRAND_REFERENCES, brandsWith, type Fill, run, statementOf } from './fill.ts';
import { scaled } from '../runner/bench.ts';

const OPERATORS = scaled(20_000);

const PAGE_TYPE = `bench.one_of('{product,product,product,product,collection,collection,home,offer,article,listicle,quiz,bundle,advertorial,other,lead_form,checkout}', bench.u(l.n, 56))`;

const fillPages: Fill = {
  projection: pages,
  sql: [
    brandsWith(`${BRAND_REFERENCES}, domain, ${BRAND_FACETS}`),
    `insert into page (landing_page_id, page_url, host, told_first_at, told_last_at, http_status, canonical_url, title, description, language,
        headings, cta_texts, scraped_at, page_type, confidence, classified_at)
      select l.page_id, l.page_url, l.host, l.first_seen_at, now() - bench.u(l.n, 57) * interval '9 days',
        case when bench.u(l.n, 58) < 0.05 then 404 else 200 end, l.page_url, c.title, left(c.body, 150), 'en',
        jsonb_build_array(c.title, left(c.body, 40)), '["Add to cart","Buy now"]', now() - interval '9 days',
        case when bench.u(l.n, 59) < 0.8 then ${PAGE_TYPE} end, 0.87, now() - interval '9 days'
      from bench.landing_page l join bench.copy c on c.n = 1 + l.n % ${scaled(240_000)}`,
    'insert into address (landing_page_id, page_url) select landing_page_id, page_url from page',
    'insert into page_domain (domain, landing_page_id) select unnest(domains), page_id from bench.landing_page',
    'insert into ad (ad_id, brand_id, landing_page_id, active) select a.ad_id, a.brand_id, l.page_id, not a.ended from bench.ad a join bench.landing_page l on l.n = a.landing_n',
    'insert into lead (ad_id, landing_page_id, brand_id) select ad_id, landing_page_id, brand_id from ad',
    `insert into page_brand (landing_page_id, brand_id, active_ads, total_ads)
      select landing_page_id, brand_id, count(*) filter (where active), count(*) from ad group by 1, 2`,
    `update page p set active_ads = c.active_ads, total_ads = c.total_ads
      from (select landing_page_id, sum(active_ads) as active_ads, sum(total_ads) as total_ads from page_brand group by 1) c
      where p.landing_page_id = c.landing_page_id`,
    'analyze page; analyze page_domain; analyze page_brand; analyze lead; analyze ad',
    run(statementOf(pages, 'refresh_page'), 'select landing_page_id from page'),
  ],
};

const COPY_KEY = `bench.id('copy', a.copy_n)`;

const fillSocialPages: Fill = {
  projection: socialPages,
  sql: [
    brandsWith(`${BRAND_REFERENCES}, ${BRAND_FACETS}`),
    run(
      statementOf(socialPages, 'move_ads'),
      `select a.ad_id, a.n::bigint as position, false as is_full, a.brand_id, a.page_id as social_page_id, not a.ended as live, true as says_copy, ${COPY_KEY} as copy_key from bench.ad a`,
    ),
    `insert into copy (copy_key, body)
      select ${COPY_KEY}, c.body from (select distinct copy_n from bench.ad) a join bench.copy c on c.n = a.copy_n`,
    `insert into page (social_page_id, page_name, named_at)
      select distinct page_id, 'Page ' || page_id, now() from bench.ad where page_id is not null`,
    `insert into profile (social_page_id, source, observed_at, page_name, username, category, verified, followers, likes)
      select social_page_id, s.source, now() - interval '3 days', page_name, 'page.' || social_page_id, 'Clothing (brand)', true,
        (bench.u(social_page_id::bigint, 71) * 100000)::bigint, (bench.u(social_page_id::bigint, 72) * 100000)::bigint
      from page, (values ('ad_library'), ('profile')) s(source)`,
    `insert into link (social_page_id, brand_id, role, confidence)
      select distinct on (page_id, brand_id) page_id, brand_id,
        case when page_id::bigint >= 500000000 then 'CREATOR' when page_id::bigint % 2 = 0 then 'OFFICIAL' else 'REGIONAL' end, 0.9
      from bench.ad where page_id is not null and (page_id::bigint < 500000000 or bench.u(n, 73) < 0.3)`,
    'analyze ad; analyze run; analyze link; analyze page; analyze profile; analyze copy_run; analyze copy_page; analyze copy_total',
    run(statementOf(socialPages, 'meet_on_page'), 'select social_page_id from page'),
    run(statementOf(socialPages, 'categorize'), 'select brand_id from bench.brand'),
  ],
};

/** Companies with several domains, named after brands. */
const fillOperators: Fill = {
  projection: operators,
  sql: [
    brandsWith(`${BRAND_REFERENCES}, ${BRAND_FACETS}`),
    `insert into operator (operator_id, name, country, observed_at)
      select bench.id('operator', n), name || ' Ltd', country, scanned_at from bench.brand where n <= ${OPERATORS}`,
    `insert into association (operator_id, kind, key, basis, brand_id)
      select bench.id('operator', 1 + floor(${OPERATORS} * power(bench.u(b.n, 81), 2))::int), 'domain', b.domain, s.basis, b.brand_id
      from bench.brand b, (values ('legal_page'), ('tls_certificate')) s(basis) where bench.u(b.n, 82) < 0.4`,
    `insert into association (operator_id, kind, key, basis, brand_id)
      select bench.id('operator', 1 + floor(${OPERATORS} * power(bench.u(b.n, 83), 2))::int), 'page', (100000000 + b.n * 2)::text, 'page_transparency', null
      from bench.brand b where bench.u(b.n, 84) < 0.3`,
    'analyze operator; analyze association',
    run(statementOf(operators, 'count'), 'select operator_id from operator'),
  ],
};

const fillPartnerships: Fill = {
  projection: partnerships,
  sql: [
    `insert into ad (ad_id, brand_id, social_page_id, page_name, partner_id, partner_name, live, first_seen_at, last_seen_at)
      select ad_id, brand_id, page_id, 'Page ' || page_id, (100000000 + brand_n * 2)::text, 'Partner', not ended, listed_on, scanned_at
      from bench.ad where page_id::bigint >= 500000000`,
    `insert into link (social_page_id, brand_id, role) select (100000000 + n * 2)::text, brand_id, 'OFFICIAL' from bench.brand`,
  ],
};

export const FILLS_OF_PAGES: readonly Fill[] = [fillPages, fillSocialPages, fillOperators, fillPartnerships];
