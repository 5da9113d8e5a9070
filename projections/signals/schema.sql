-- Running counts of a brand's events. Each recorded scan copies them.
create table tally (
  brand_id uuid primary key,
  -- Active ads by format.
  video bigint not null,
  image bigint not null,
  carousel bigint not null,
  dco bigint not null,
  other bigint not null,
  -- Ads first seen running without a recorded start: those of a page's first scan, and late-seen ones.
  uncovered bigint not null,
  -- Active ads whose format was changed, or first named, by another source.
  relabelled bigint not null,
  newest_day date
);

-- Every recorded scan. In-order scans reflect the newest day known when they were recorded; the others are
-- history.
create table scan (
  brand_id uuid not null,
  position bigint not null,
  date date not null,
  observed_at timestamptz not null,
  in_order boolean not null,
  reliable boolean not null,
  -- True if all its pages were scanned for the first time.
  baseline boolean not null,
  active_ads bigint not null,
  new_ads bigint not null,
  video bigint not null,
  image bigint not null,
  carousel bigint not null,
  dco bigint not null,
  other bigint not null,
  uncovered bigint not null,
  relabelled bigint not null,
  primary key (brand_id, position)
);

-- Counts of radar items per brand and day. `kind` is the kind of their signal.
create table change_count (
  brand_id uuid not null,
  date date not null,
  kind text not null,
  items bigint not null,
  observed_at timestamptz not null,
  primary key (brand_id, date, kind)
);

-- Ads that a signal names: with sale copy, or refreshed.
create table named_ad (
  brand_id uuid not null,
  date date not null,
  kind text not null,
  ad_id text not null,
  position bigint not null,
  observed_at timestamptz not null,
  primary key (brand_id, date, kind, ad_id)
);

-- Landing pages that a brand's ads led to and social pages that ran them, as first seen.
create table met (
  brand_id uuid not null,
  kind text not null,
  key text not null,
  position bigint not null,
  date date not null,
  observed_at timestamptz not null,
  -- True if every ad that showed it then was news.
  news boolean not null,
  -- Earliest start date of those ads; null if one has none or was late-seen.
  started_on date,
  ad_id text not null,
  social_page_id text,
  page_name text,
  destination_url text,
  primary key (brand_id, kind, key)
);

-- Observed links of social pages with a brand, over time. `role` is null while the page is not linked.
create table link (
  brand_id uuid not null,
  social_page_id text not null,
  observed_at timestamptz not null,
  date date not null,
  role text,
  page_name text,
  primary key (brand_id, social_page_id, observed_at)
);

-- Complete scans of a brand's catalogue that can be compared with the scan before.
create table catalogue (
  brand_id uuid not null,
  date date not null,
  observed_at timestamptz not null,
  products bigint not null,
  cheaper bigint not null,
  primary key (brand_id, date, observed_at)
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text
);

-- Signals: their figures and the first things they name, as JSON. Sentences and links are made when read.
create table signal (
  id uuid not null,
  brand_id uuid not null,
  date date not null,
  kind text not null,
  observed_at timestamptz not null,
  figures jsonb not null,
  about jsonb not null,
  primary key (brand_id, date, kind)
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index scan_of_day on scan (brand_id, date);
create index met_on_day on met (brand_id, date);
create index link_on_day on link (brand_id, date);
create index link_first on link (brand_id, observed_at) where role is not null;
create index signal_newest on signal (brand_id, observed_at desc, id desc) include (kind);
create index signal_newest_of_all on signal (observed_at desc, id desc) include (brand_id, kind);
create unique index signal_by_id on signal (id);
create index applied_scan_newest on applied_scan (scanned_at);
