-- One row per brand: its profile, its counters, and the JSON documents that the API passes through. Each new version of
-- this wide row is written to all indexes, so a batch writes it once, with the documents.
create table brand (
  brand_id uuid primary key,
  slug text,
  domain text,
  name text,
  description text,
  logo_url text,
  country text,
  is_public boolean not null default false,
  indexable boolean not null default false,
  category_path jsonb not null default '[]',
  category_ids uuid[] not null default '{}',
  profiled_at timestamptz,
  scanned_at timestamptz,
  -- As of the newest scan: active counts every ad that is not confirmed inactive.
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  last_ad_seen_on date,
  new_ads_7d bigint not null default 0,
  as_of timestamptz,
  updated_at timestamptz,
  summary text,
  detail text,
  reference text,
  breakdown text
);

-- Active ads of each brand by format.
create table format_count (
  brand_id uuid primary key,
  video bigint not null default 0,
  image bigint not null default 0,
  carousel bigint not null default 0,
  dco bigint not null default 0,
  other bigint not null default 0
);

create table country (
  brand_id uuid not null,
  country text not null,
  ads bigint not null default 0,
  primary key (brand_id, country)
);

-- One row per recorded scan. Figures of the last 7 and 30 days are sums over it.
create table scan (
  brand_id uuid not null,
  date date not null,
  scan_id text collate "C" not null,
  new_ads bigint not null,
  retired_ads bigint not null,
  -- True if the scan showed an ad of the brand.
  seen boolean not null,
  primary key (brand_id, date, scan_id)
);

-- Ads that came to a brand (positive) or left it (negative) at a time.
create table brand_move (
  brand_id uuid not null,
  at timestamptz not null,
  active_ads bigint not null,
  total_ads bigint not null,
  primary key (brand_id, at)
);

-- Totals as stated by each brand's newest scan, and with the ads that changed their brand since.
create table brand_totals (
  brand_id uuid primary key,
  scanned_at timestamptz,
  scan_id text collate "C",
  stated_active_ads bigint not null,
  stated_total_ads bigint not null,
  -- Revision of the event that stated the totals of the newest scan.
  stated_revision bigint,
  -- Numbers of ads as an event out of order states them, and the revision of that event.
  active_now bigint,
  total_now bigint,
  counted_revision bigint,
  active_ads bigint not null,
  total_ads bigint not null,
  -- Time of the newest scan that looked at the brand.
  looked_at timestamptz
);

-- Ended ads with the days that they ran, and the first day seen of ads without a start date. Other ads have no row.
create table lifespan (
  brand_id uuid not null,
  ad_id text not null,
  first_seen_on date,
  days bigint,
  primary key (brand_id, ad_id)
);

-- Sum and number of the known lifespans of each brand.
create table lifespan_sum (
  brand_id uuid primary key,
  days bigint not null,
  ads bigint not null
);

-- Current contribution of each brand with a slug to `corpus_count`.
create table counted_brand (
  brand_id uuid primary key,
  category_slug text not null,
  scanned_at timestamptz,
  total_ads bigint not null
);

-- Corpus counts by top-level category ('' without one) and by the hour of the last scan ('-infinity' before
-- the first). Counting the wide brand table for each request would be too slow.
create table corpus_count (
  category_slug text not null,
  scanned_hour timestamptz not null,
  brands bigint not null,
  ads bigint not null,
  primary key (category_slug, scanned_hour)
);

-- Names of categories. `shown_name`: the name that the documents of brands show.
create table category (
  category_id uuid primary key,
  slug text,
  -- From the naming of precedence: a definition, else the first brand profile.
  name text,
  named_rank int,
  named_at timestamptz,
  named_by uuid,
  -- Name from the category's own definition, as last changed.
  defined_name text,
  shown_name text
);
-- indexes
create unique index brand_by_slug on brand (slug);
create index brand_by_active_ads on brand (active_ads desc, brand_id desc) where is_public and slug is not null;
create index brand_by_new_ads on brand (new_ads_7d desc, brand_id desc) where is_public and slug is not null;
create index brand_by_name on brand (lower(name), brand_id) where is_public and slug is not null;
create index brand_by_country on brand (country, active_ads desc, brand_id desc) where is_public and slug is not null;
create index brand_of_sitemap on brand (brand_id) where is_public and slug is not null and indexable;
create index brand_by_category on brand using gin (category_ids);
create index brand_by_name_part on brand using gin (lower(name) gin_trgm_ops);
create index counted_brand_by_scan on counted_brand (scanned_at) include (category_slug);
