-- What a brand's events add up to so far; a scan that closes takes a copy.
create table tally (
  brand_id uuid primary key,
  -- Active ads by format.
  video bigint not null,
  image bigint not null,
  carousel bigint not null,
  dco bigint not null,
  other bigint not null,
  -- Ads that came into view running without having started: those of a page's first scan, and late-seen ones.
  uncovered bigint not null,
  -- Active ads whose format another source worded differently, or first.
  relabelled bigint not null,
  newest_day date
);

-- Every closed scan. Those in order are as of the newest day known when they were recorded; others are history.
create table scan (
  brand_id uuid not null,
  position bigint not null,
  date date not null,
  observed_at timestamptz not null,
  in_order boolean not null,
  reliable boolean not null,
  -- All its pages were scanned for the first time.
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

-- Radar items of a brand and day. `kind` is that of their signal.
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

-- Landing pages that a brand's ads led to and social pages that ran them, as first met.
create table met (
  brand_id uuid not null,
  kind text not null,
  key text not null,
  position bigint not null,
  date date not null,
  observed_at timestamptz not null,
  -- Every ad that showed it then was news.
  news boolean not null,
  -- The earliest start date of those ads; null where one has none, or was late-seen.
  started_on date,
  ad_id text not null,
  page_id text,
  page_name text,
  destination_url text,
  primary key (brand_id, kind, key)
);

-- What was observed of a page's link with a brand, and when. `role` is null from where on it is not linked.
create table link (
  brand_id uuid not null,
  page_id text not null,
  observed_at timestamptz not null,
  date date not null,
  role text,
  page_name text,
  primary key (brand_id, page_id, observed_at)
);

-- Whole scans of a brand's catalogue that can be compared with the one before.
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

-- What a signal says in numbers, and the first things that it names, as JSON; sentences and links are made when read.
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
-- indexes
create index scan_of_day on scan (brand_id, date);
create index met_on_day on met (brand_id, date);
create index signal_newest on signal (brand_id, observed_at desc, id desc) include (kind);
create index signal_newest_of_all on signal (observed_at desc, id desc) include (brand_id, kind);
create unique index signal_by_id on signal (id);
