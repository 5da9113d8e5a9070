import { scaled } from '../runner/bench.ts';

/**
 * Every value is a hash of the row's number, so two builds are equal. The biggest brand has some 17,000 of a million
 * ads; most have one or two.
 */
export const BRANDS = scaled(200_000);
export const ADS = scaled(1_000_000);
export const LANDING_PAGES = scaled(500_000);
export const FILES = scaled(500_000);
export const TOP_CATEGORIES = 25;
const MIDS_OF_TOP = 8;
const LEAVES_OF_MID = 6;
export const LEAVES = TOP_CATEGORIES * MIDS_OF_TOP * LEAVES_OF_MID;
/** Social pages of creators, publishers and shops, which brands share. */
export const SHARED_PAGES = scaled(5_000);
/** Landing pages that brands share; they have the highest numbers. */
export const SHARED_LANDING_PAGES = scaled(1_000);
const WORDS = 20_000;
export const SENTENCES = scaled(100_000);
const WORDS_OF_SENTENCE = 12;
export const COPIES = scaled(250_000);

/** Word in 1 of 50,000 texts and 3 of 1,000, which the syllables below cannot form. */
export const RARE_WORD = 'quokka';
export const SELDOM_WORD = 'linenweave';
/** Number of a word in about half of all texts. */
export const COMMON_WORD_NUMBER = 5;

const SYLLABLES =
  'ar,bel,cor,dan,el,fir,gam,hol,in,jor,kes,lum,mer,nov,or,pas,qui,ros,sil,tam,um,ver,wen,yl,zan,brek,cloud,dry,fles,gro,sho,trip'.split(
    ',',
  );

const FUNCTIONS = `
  create function bench.u(n bigint, salt bigint) returns float8 language sql immutable parallel safe
    return (hashint8extended(n, salt) & 4503599627370495)::float8 / 4503599627370496::float8;
  create function bench.one_of(options text[], u float8) returns text language sql immutable parallel safe
    return options[1 + floor(cardinality(options) * u)::int];
  create function bench.uuid_of(name text) returns uuid language sql immutable parallel safe
    return overlay(overlay(md5(name) placing '5' from 13) placing 'a' from 17)::uuid;
  create function bench.id(kind text, n bigint) returns uuid language sql immutable parallel safe
    return bench.uuid_of(kind || n);
  create function bench.iso(at timestamptz) returns text language sql stable parallel safe
    return to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const TEXTS = `
  create table bench.word as
    select n, s[1 + n % ${SYLLABLES.length}] || s[1 + n / ${SYLLABLES.length} % ${SYLLABLES.length}]
      || s[1 + n / ${SYLLABLES.length ** 2} % ${SYLLABLES.length}] as word
    from generate_series(1, ${WORDS}) n, (select '{${SYLLABLES.join()}}'::text[] as s) s;
  create index on bench.word (n);
  create table bench.sentence as
    select k / ${WORDS_OF_SENTENCE} as n, string_agg(w.word, ' ' order by k) as text
    from generate_series(0, ${SENTENCES * WORDS_OF_SENTENCE - 1}) k
    join bench.word w on w.n = floor(power(${WORDS}, bench.u(k, 1)))::int group by 1;
  create index on bench.sentence (n);
  create table bench.copy as
    select k as n, initcap(left(a.text, 1)) || substr(a.text, 2) || '. ' || b.text || '! ' || c.text
        || case when k % 50000 = 7 then ' ${RARE_WORD}' else '' end
        || case when k % 333 = 5 then ' ${SELDOM_WORD}' else '' end as body,
      initcap(left(c.text, 40)) as title
    from generate_series(1, ${COPIES}) k
    join bench.sentence a on a.n = floor(${SENTENCES} * bench.u(k, 2))::int
    join bench.sentence b on b.n = floor(${SENTENCES} * bench.u(k, 3))::int
    join bench.sentence c on c.n = floor(${SENTENCES} * bench.u(k, 4))::int;
  create index on bench.copy (n);
  analyze bench.word; analyze bench.sentence; analyze bench.copy`;

const CATEGORIES = `
  create table bench.category as
    with named as (
      select n, case when n <= ${TOP_CATEGORIES} then 1 when n <= ${TOP_CATEGORIES * (1 + MIDS_OF_TOP)} then 2 else 3 end as level,
        case when n <= ${TOP_CATEGORIES} then null when n <= ${TOP_CATEGORIES * (1 + MIDS_OF_TOP)}
          then 1 + (n - ${TOP_CATEGORIES + 1}) / ${MIDS_OF_TOP}
          else ${TOP_CATEGORIES + 1} + (n - ${TOP_CATEGORIES * (1 + MIDS_OF_TOP) + 1}) / ${LEAVES_OF_MID} end as parent_n
      from generate_series(1, ${TOP_CATEGORIES * (1 + MIDS_OF_TOP) + LEAVES}) n
    )
    select n, level, parent_n, bench.id('category', n) as category_id, bench.id('category', parent_n) as parent_id,
      w.word as slug, initcap(w.word) as name,
      json_build_object('id', bench.id('category', n), 'slug', w.word, 'name', initcap(w.word))::jsonb as doc
    from named join bench.word w using (n);
  create table bench.leaf as
    select row_number() over (order by l.n) - 1 as leaf, jsonb_build_array(t.doc, m.doc, l.doc) as path,
      array[t.category_id, m.category_id, l.category_id] as ids
    from bench.category l join bench.category m on m.n = l.parent_n join bench.category t on t.n = m.parent_n
    where l.level = 3;
  create index on bench.leaf (leaf);
  analyze bench.category; analyze bench.leaf`;

const COUNTRIES = `array['US','US','US','US','US','US','US','GB','GB','DE','CA','AU','FR','NL','SE','JP']`;

/** Pages and files of a brand are consecutive. */
const BRAND_ROWS = `
  create table bench.owned_page as
    select brand_n, count(*)::int as pages from (
      select 1 + floor(${BRANDS} * power(bench.u(k, 11), 3))::int as brand_n
      from generate_series(1, ${LANDING_PAGES - SHARED_LANDING_PAGES}) k) p group by 1;
  create table bench.owned_file as
    select brand_n, count(*)::int as files from (
      select 1 + floor(${BRANDS} * power(bench.u(k, 12), 3))::int as brand_n from generate_series(1, ${FILES}) k) f group by 1;
  create table bench.brand as
    select g.n, bench.id('brand', g.n) as brand_id, a.word || '-' || b.word || '.com' as domain,
      a.word || '-' || b.word || '-com' as slug, initcap(a.word) || ' ' || initcap(b.word) as name,
      'https://cdn.example.com/logos/' || g.n || '.png' as logo_url, bench.one_of(${COUNTRIES}, bench.u(g.n, 21)) as country,
      bench.u(g.n, 22) < 0.92 as is_public, bench.u(g.n, 23) < 0.6 as indexable,
      l.path as category_path, l.ids as category_ids,
      now() - bench.u(g.n, 24) * interval '7 days' - case when bench.u(g.n, 25) < 0.1 then interval '40 days' else '0' end as scanned_at,
      coalesce(p.pages, 0) as pages, 1 + coalesce(sum(p.pages) over (order by g.n rows between unbounded preceding and 1 preceding), 0)::int as first_page,
      coalesce(f.files, 0) as files, 1 + coalesce(sum(f.files) over (order by g.n rows between unbounded preceding and 1 preceding), 0)::int as first_file
    from generate_series(1, ${BRANDS}) g(n)
    join bench.word a on a.n = 1 + g.n % ${WORDS} join bench.word b on b.n = 30 + g.n / ${WORDS}
    join bench.leaf l on l.leaf = floor(${LEAVES} * power(bench.u(g.n, 26), 2))::int
    left join bench.owned_page p on p.brand_n = g.n left join bench.owned_file f on f.brand_n = g.n;
  create unique index on bench.brand (n);
  analyze bench.brand`;

const AD_ROWS = `
  create table bench.ad as
    select a.n, (700000000000000 + a.n)::text as ad_id, b.n as brand_n, b.brand_id, b.scanned_at, a.status, a.age,
      current_date - a.age as listed_on, a.status = 'inactive' as ended,
      bench.one_of('{video,video,video,image,image,image,carousel,dco,other}', bench.u(a.n, 34)) as format,
      bench.one_of('{SHOP_NOW,SHOP_NOW,SHOP_NOW,LEARN_MORE,SIGN_UP,GET_OFFER}', bench.u(a.n, 35)) as cta_type,
      case when bench.u(a.n, 36) < 0.5 then array['US'] when bench.u(a.n, 36) < 0.7 then array['US', 'GB', 'CA']
        else array[b.country, 'DE'] end as countries,
      1 + floor(${COPIES} * case when bench.u(a.n, 37) < 0.1 then power(bench.u(a.n, 38), 4)
        else bench.u(b.n * 1000 + floor(1 + sqrt(b.files + 3) * bench.u(a.n, 38))::int, 39) end)::int as copy_n,
      case when bench.u(a.n, 40) < 0.01 then null
        when bench.u(a.n, 40) < 0.09 then (500000000 + floor(${SHARED_PAGES} * power(bench.u(a.n, 41), 2.5))::int)::text
        else (100000000 + b.n * 2 + (bench.u(a.n, 41) < 0.2)::int)::text end as page_id,
      case when b.pages = 0 then ${LANDING_PAGES - SHARED_LANDING_PAGES} + 1 + floor(${SHARED_LANDING_PAGES} * power(bench.u(a.n, 42), 3))::int
        else b.first_page + floor(b.pages * power(bench.u(a.n, 42), 2))::int end as landing_n,
      case when b.files > 0 and bench.u(a.n, 43) < 0.8 then b.first_file + floor(b.files * power(bench.u(a.n, 44), 1.5))::int end as file_n,
      case when b.files > 2 and bench.u(a.n, 45) < 0.3 then b.first_file + floor(b.files * power(bench.u(a.n, 46), 1.5))::int end as other_file_n
    from (
      select n, 1 + floor(${BRANDS} * power(bench.u(n, 31), 3))::int as brand_n,
        floor(1100 * power(bench.u(n, 32), 2))::int as age,
        bench.one_of('{active,active,active,active,active,active,active,active,active,missing,inactive,inactive,inactive,inactive,inactive,inactive,inactive,inactive,inactive,inactive}',
          bench.u(n, 33)) as status
      from generate_series(1, ${ADS}) n
    ) a join bench.brand b on b.n = a.brand_n;
  create index on bench.ad (brand_n);
  analyze bench.ad`;

const LANDING_PAGE_ROWS = `
  create table bench.landing_page as
    select p.n, bench.id('landing', p.n) as page_id, p.brand_n,
      case when p.brand_n is null then array[]::text[] else array[p.domain] end as domains,
      case when p.brand_n is null then 'pages.example.com' else 'www.' || p.domain end as host,
      'https://' || case when p.brand_n is null then 'pages.example.com' else 'www.' || p.domain end
        || bench.one_of('{/products/,/products/,/products/,/collections/,/pages/,/blogs/news/,/lp/}', bench.u(p.n, 51))
        || a.word || '-' || b.word || '-w' || p.n % 41 || '-' || c.word
        || case when p.n % 5 = 0 then '?variant=' || 40000000 + p.n else '' end as page_url,
      now() - power(bench.u(p.n, 52), 2) * interval '900 days' as first_seen_at
    from (
      select generate_series(first_page, first_page + pages - 1) as n, n as brand_n, domain from bench.brand where pages > 0
      union all
      select n, null, null from generate_series(${LANDING_PAGES - SHARED_LANDING_PAGES + 1}, ${LANDING_PAGES}) n
    ) p
    join bench.word a on a.n = floor(power(${WORDS}, bench.u(p.n, 53)))::int
    join bench.word b on b.n = floor(power(${WORDS}, bench.u(p.n, 54)))::int
    join bench.word c on c.n = 1 + floor(${WORDS - 1} * bench.u(p.n, 55))::int;
  create unique index on bench.landing_page (n);
  analyze bench.landing_page`;

/** Scripts in the order of their runs. */
export const SEEDS: readonly string[] = [
  'drop schema if exists bench cascade; create schema bench',
  FUNCTIONS,
  TEXTS,
  CATEGORIES,
  BRAND_ROWS,
  AD_ROWS,
  LANDING_PAGE_ROWS,
];
