-- One row per ad with the columns that counts depend on: brand, social page, whether it is live, and copy.
create table ad (
  ad_id text primary key,
  brand_id uuid not null,
  social_page_id text,
  live boolean not null,
  copy_key uuid,
  -- Log position of the event that last set all columns; older events of the ad change nothing.
  full_at bigint not null default 0
);

-- Ads of a brand on a social page ('' without a page).
create table run (
  social_page_id text not null,
  brand_id uuid not null,
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  primary key (social_page_id, brand_id),
  unique (brand_id, social_page_id)
);

-- Live ads of a brand on a social page ('' without a page), by copy.
create table copy_run (
  brand_id uuid not null,
  social_page_id text not null,
  copy_key uuid not null,
  active_ads bigint not null default 0,
  primary key (brand_id, social_page_id, copy_key)
);

-- Live ads of a copy on a social page, over all brands.
create table copy_page (
  copy_key uuid not null,
  social_page_id text not null,
  active_ads bigint not null default 0,
  primary key (copy_key, social_page_id)
);

-- Live ads of a copy over all pages, and the number of these pages. Minus the brand's own ads, these are
-- foreign to the brand.
create table copy_total (
  copy_key uuid primary key,
  active_ads bigint not null default 0,
  pages bigint not null default 0
);

-- The text of a copy, as one of its ads has it.
create table copy (
  copy_key uuid primary key,
  body text not null
);

-- Current links: neither unlinked nor quarantined.
create table link (
  social_page_id text not null,
  brand_id uuid not null,
  role text,
  confidence double precision,
  primary key (social_page_id, brand_id)
);

-- Profile of a social page by source.
create table profile (
  social_page_id text not null,
  source text not null,
  observed_at timestamptz,
  page_name text,
  username text,
  category text,
  verified boolean,
  followers bigint,
  likes bigint,
  primary key (social_page_id, source)
);

-- The newest name of a social page from any source.
create table page (
  social_page_id text primary key,
  page_name text not null,
  named_at timestamptz not null
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  country text,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}'
);

-- Social pages with live ads of two or more public brands.
create table hub (
  social_page_id text primary key,
  brands bigint not null,
  active_ads bigint not null
);

-- Public brands of social pages that two or more of them share, by live ads or by links. `brands`: how many
-- share it.
create table member (
  social_page_id text not null,
  brand_id uuid not null,
  confidence double precision not null,
  brands bigint not null,
  -- Categories of the brand, so that members of a category are found without reading other brands.
  category_ids uuid[] not null,
  primary key (social_page_id, brand_id)
);

-- Public brands of each category of any level.
create table brand_category (
  category_id uuid not null,
  brand_id uuid not null,
  primary key (category_id, brand_id),
  unique (brand_id, category_id)
);

-- Number of public brands per category. Stored, because the largest categories hold a third of all brands.
create table category_size (
  category_id uuid primary key,
  brands bigint not null
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index copy_page_biggest on copy_page (copy_key, active_ads desc, social_page_id) where active_ads > 0;
create index run_biggest on run (social_page_id, active_ads desc, brand_id) where active_ads > 0;
create index link_of_brand on link (brand_id);
create index profile_by_username on profile (lower(username));
create index hub_biggest on hub (brands desc, active_ads desc, social_page_id desc);
create index member_of_brand on member (brand_id);
create index member_by_category on member using gin (category_ids);
create index applied_scan_newest on applied_scan (scanned_at);
