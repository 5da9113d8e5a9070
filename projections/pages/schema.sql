-- One row per landing page: figures from the ads that lead to it, from visits and from classifiers.
create table page (
  landing_page_id uuid primary key,
  page_url text,
  host text,
  -- First and last sighting of the page, by events that state a time of sighting.
  told_first_at timestamptz,
  told_last_at timestamptz,
  -- Earliest time of the corrections that name the page without telling when it was seen.
  assumed_at timestamptz,
  first_seen_at timestamptz generated always as (coalesce(told_first_at, assumed_at)) stored,
  seen_at timestamptz generated always as (coalesce(told_last_at, assumed_at)) stored,
  http_status integer,
  canonical_url text,
  title text,
  description text,
  language text,
  headings jsonb,
  cta_texts jsonb,
  scraped_at timestamptz,
  page_type text,
  confidence float8,
  classified_at timestamptz,
  -- Ads of all brands.
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  -- Refreshed at the end of each batch. `owner_id` is the brand that owns the host's domain. `is_public` is true when
  -- any brand of the page is public. The `listed_` columns repeat the page's rows in `page_scope`; null until it is
  -- first listed.
  owner_id uuid,
  is_public boolean not null default false,
  listed_since timestamptz,
  listed_ads bigint
);

-- URLs in a table of their own, so that the substring search fits into memory.
create table address (
  landing_page_id uuid primary key,
  page_url text not null
);

-- Domains that may own a landing page: its host and the parents of the host.
create table page_domain (
  domain text not null,
  landing_page_id uuid not null,
  primary key (domain, landing_page_id),
  unique (landing_page_id, domain)
);

-- Destinations of an ad now, by its own link and by those of its cards. `active`: not confirmed inactive.
create table ad (
  ad_id text primary key,
  brand_id uuid not null,
  landing_page_id uuid,
  card_landing_page_ids uuid[] not null default '{}',
  active boolean not null,
  -- Log position of the event that last set all columns; older events of the ad change nothing.
  full_at bigint not null default 0
);

-- Every landing page that an ad was ever seen to lead to. `brand_id` is the present brand of the ad.
create table lead (
  ad_id text not null,
  landing_page_id uuid not null,
  brand_id uuid not null,
  primary key (ad_id, landing_page_id)
);

-- `active_ads` lead there now, `total_ads` ever did. `is_listed` once `page_scope` reflects the row.
create table page_brand (
  landing_page_id uuid not null,
  brand_id uuid not null,
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  is_listed boolean not null default false,
  primary key (landing_page_id, brand_id),
  unique (brand_id, landing_page_id)
);

-- Scopes in which live landing pages are listed: each of their public brands, the categories of these, and,
-- on hosts of public US brands, the zero id.
create table page_scope (
  landing_page_id uuid not null,
  scope_id uuid not null,
  page_type text,
  first_seen_at timestamptz not null,
  total_ads bigint not null,
  primary key (landing_page_id, scope_id)
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  domain text unique,
  country text,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}'
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index page_brand_unlisted on page_brand (landing_page_id) where not is_listed;
create index address_by_part on address using gin (page_url gin_trgm_ops);
create index page_newest on page_scope (scope_id, first_seen_at desc, landing_page_id desc);
create index page_most_seen on page_scope (scope_id, total_ads desc, landing_page_id desc);
create index page_newest_of_type on page_scope (scope_id, page_type, first_seen_at desc, landing_page_id desc);
create index page_most_seen_of_type on page_scope (scope_id, page_type, total_ads desc, landing_page_id desc);
create index ad_with_cards on ad (brand_id) where active and card_landing_page_ids <> '{}';
create index applied_scan_newest on applied_scan (scanned_at);
