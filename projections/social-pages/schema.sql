-- Every ad with what counts follow: whose it is, the page it runs on, whether it is live, and its copy.
create table ad (
  ad_id text primary key,
  brand_id uuid not null,
  page_id text,
  live boolean not null,
  copy_key uuid
);

-- Ads of a brand on a page. Without a page: ''.
create table run (
  page_id text not null,
  brand_id uuid not null,
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  primary key (page_id, brand_id),
  unique (brand_id, page_id)
);

-- Live ads of a copy, by page and brand.
create table copy_run (
  copy_key uuid not null,
  page_id text not null,
  brand_id uuid not null,
  active_ads bigint not null default 0,
  primary key (copy_key, page_id, brand_id)
);

-- The words of a copy, as one of its ads has them.
create table copy (
  copy_key uuid primary key,
  body text not null
);

-- Links that are served: neither unlinked nor held back.
create table link (
  page_id text not null,
  brand_id uuid not null,
  role text,
  confidence double precision,
  primary key (page_id, brand_id)
);

-- What each source says of a page.
create table profile (
  page_id text not null,
  source text not null,
  observed_at timestamptz,
  page_name text,
  username text,
  category text,
  verified boolean,
  followers bigint,
  likes bigint,
  primary key (page_id, source)
);

-- The newest name of a page that anything showed.
create table page (
  page_id text primary key,
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

-- Pages with live ads of two or more public brands.
create table hub (
  page_id text primary key,
  brands bigint not null,
  active_ads bigint not null
);

-- Public brands of pages that two or more of them share, by live ads or by links. `brands`: how many share it.
create table member (
  page_id text not null,
  brand_id uuid not null,
  confidence double precision not null,
  brands bigint not null,
  primary key (page_id, brand_id)
);

-- When the newest scan of the corpus looked.
create table corpus (
  one boolean primary key default true check (one),
  scanned_at timestamptz not null
);
-- indexes
create index copy_run_of_brand on copy_run (brand_id, copy_key) where active_ads > 0;
create index link_of_brand on link (brand_id);
create index hub_biggest on hub (brands desc, active_ads desc, page_id desc);
create index member_of_brand on member (brand_id);
create index brand_by_category on brand using gin (category_ids) where is_public;
