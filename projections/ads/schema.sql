-- One row per ad, as last observed. `listed_on` sorts lists: the library's start date, or else the day it was
-- first seen.
create table ad (
  ad_id text primary key,
  brand_id uuid,
  social_page_id text,
  page_name text,
  status text,
  format text,
  body text,
  title text,
  link_description text,
  caption text,
  cta_type text,
  cta_text text,
  link_url text,
  platforms text[],
  languages text[],
  countries text[],
  media jsonb,
  cards jsonb,
  versions jsonb,
  started_on date,
  stopped_on date,
  listed_on date,
  first_seen_at timestamptz,
  -- Last sighting in the ad's own events. Every later complete scan of its page saw an active ad too.
  seen_at timestamptz,
  -- False if every scan that showed the ad showed it as ended.
  observed_running boolean not null default true,
  -- A scan after seen_at covered the page without showing the ad, so later scans of the page do not imply a sighting.
  not_shown_since boolean not null default false,
  -- When the ad was confirmed inactive.
  inactive_since timestamptz,
  -- Log position of the event that last set all columns. Older events of the ad, from a brand that it left, change
  -- nothing.
  full_at bigint not null default 0,
  tsv tsvector generated always as (
    to_tsvector('simple', coalesce(title, '') || ' ' || left(coalesce(body, ''), 20000) || ' ' || coalesce(link_description, ''))
  ) stored,
  -- Search terms: format and status in lower case, countries in upper case.
  facets text[] generated always as (array_remove(countries || array[status, format], null)) stored
);
-- With fewer statistics the planner takes a rare word for a common one.
alter table ad alter column tsv set statistics 10000;

create table page (
  brand_id uuid not null,
  social_page_id text not null,
  complete_at timestamptz not null,
  primary key (brand_id, social_page_id)
);

create table history (
  ad_id text not null,
  position bigint not null,
  at timestamptz not null,
  change text not null,
  detail jsonb not null,
  primary key (ad_id, position)
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
-- With what ages and filters need, so that a brand's ads are compared without reading their copy.
create index ad_of_brand on ad (brand_id, listed_on desc, ad_id desc) include (
  social_page_id, status, cta_type, stopped_on, seen_at, observed_running, not_shown_since, inactive_since
);
create index ad_newest on ad (listed_on desc, ad_id desc);
create index ad_by_words on ad using gin (tsv);
create index ad_by_facets on ad using gin (facets);
create index applied_scan_newest on applied_scan (scanned_at);
