-- The ingest's private working tables: what decisions need of the log, at hand. All of them but what is
-- staged are folded from the log and can be dropped; the next start folds them again.
create schema if not exists ingest;

-- Chunks of scans that have not ended. A chunk is acknowledged once it is here.
create table if not exists ingest.staged_chunk (
  scan_id uuid not null,
  chunk int not null,
  staged_at timestamptz not null default now(),
  ads text not null,
  -- Whether any of them has no page.
  unnamed boolean not null,
  primary key (scan_id, chunk)
);

-- What was known of a staged scan's pages before it, where it is decided for several brands: interrupted between two
-- of them, the rest is decided on the same.
create table if not exists ingest.staged_history (
  scan_id uuid primary key,
  histories json not null
);

-- Each ad of a staged scan once, in the first chunk that holds it (rule 8), with the brand it belongs to.
create table if not exists ingest.staged_ad (
  scan_id uuid not null,
  ad_id text not null,
  chunk int not null,
  brand_id uuid not null,
  primary key (scan_id, ad_id)
);
create index if not exists staged_ad_by_brand on ingest.staged_ad (scan_id, brand_id, chunk);

-- Pages of storefront scans that have not ended.
create table if not exists ingest.staged_storefront_page (
  scan_id uuid not null,
  page int not null,
  staged_at timestamptz not null default now(),
  products text not null,
  primary key (scan_id, page)
);

create table if not exists ingest.brand (
  brand_id uuid primary key,
  domain text not null unique
);

create table if not exists ingest.linked_page (
  brand_id uuid not null,
  page_id text not null,
  confidence real not null,
  primary key (brand_id, page_id)
);
create index if not exists linked_page_by_page on ingest.linked_page (page_id);

-- One row a brand: the revision of its adLibrary stream that the rows below reflect, and its counters.
create table if not exists ingest.library (
  brand_id uuid primary key,
  revision bigint not null,
  live int not null,
  missing int not null,
  total int not null,
  open jsonb
);

create table if not exists ingest.ad (
  ad_id text primary key,
  brand_id uuid not null,
  page_id text,
  live boolean not null,
  known jsonb not null
);
create index if not exists ad_live_by_page on ingest.ad (brand_id, page_id) where live;
create index if not exists ad_live_page on ingest.ad (page_id) where live;

-- Whose stream holds an ad's events. Claimed before the first event is appended, so that an ad met by scans of
-- two brands at once begins in one stream only.
create table if not exists ingest.ad_owner (
  ad_id text primary key,
  brand_id uuid not null
);

create table if not exists ingest.page (
  brand_id uuid not null,
  page_id text not null,
  known jsonb not null,
  first_scan_at text not null,
  last_scan_at text not null,
  last_complete_at text,
  primary key (page_id, brand_id)
);
-- The last complete scan but one.
alter table ingest.page add column if not exists complete_before text;
create index if not exists page_by_brand on ingest.page (brand_id);

create table if not exists ingest.recorded_scan (
  scan_id uuid not null,
  brand_id uuid not null,
  primary key (scan_id, brand_id)
);

-- How far the whole log was folded when a process last started.
create table if not exists ingest.folded_to (
  one boolean primary key default true check (one),
  position bigint not null
);
