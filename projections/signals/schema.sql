-- Changes of a brand's counts, by time. The counts at a time are the sums up to it.
create table step (
  brand_id uuid not null,
  at timestamptz not null,
  -- Active ads by format.
  video bigint not null default 0,
  image bigint not null default 0,
  carousel bigint not null default 0,
  dco bigint not null default 0,
  other bigint not null default 0,
  -- Ads first seen running without a recorded start: those of a page's first scan, and late-seen ones.
  uncovered bigint not null default 0,
  -- Active ads whose format was changed, or first named, by another source, or that came from another brand or left.
  relabelled bigint not null default 0,
  -- Active ads that came from another brand, less those that left.
  moved bigint not null default 0,
  primary key (brand_id, at)
);

-- Every recorded scan, as last corrected. Days follow from the scans that are in order; the others are history, or had
-- not looked at the brand.
create table scan (
  brand_id uuid not null,
  scan_id text not null,
  date date not null,
  observed_at timestamptz not null,
  in_order boolean not null,
  reliable boolean not null,
  -- True if all its pages were scanned for the first time.
  baseline boolean not null default false,
  active_ads bigint not null,
  new_ads bigint not null,
  -- True if it arrived late, or a late scan corrected its figures.
  corrected boolean not null default false,
  -- Log position at which it was recorded.
  position bigint,
  primary key (brand_id, date, scan_id)
);

-- Radar items: what a scan showed of an ad. The event with the lowest log position decides the brand, unless a mark states
-- another; it is null while only a mark is known.
create table occurrence (
  ad_id text not null,
  cause text not null,
  scan_id text not null,
  brand_id uuid,
  date date,
  observed_at timestamptz,
  position bigint,
  -- True if that event is a correction.
  is_added boolean,
  stated_brand_id uuid,
  -- The mark of the correction with the highest log position. Withdrawn items do not count.
  marked_at bigint,
  is_withdrawn boolean not null default false,
  primary key (ad_id, cause, scan_id),
  -- Part of the table, because a rebuild also counts the items of each day, and has no indexes yet.
  unique (brand_id, date, cause, ad_id, scan_id)
);

-- Days of brands that lost an occurrence to an event of a lower log position. Their signals are computed at the end of the
-- batch, which empties the table.
create table outdated_day (
  brand_id uuid not null,
  date date not null,
  primary key (brand_id, date)
);

-- Ads that a signal names: with sale copy, or refreshed. `cause` is that of an occurrence, or `revised`.
create table named_ad (
  brand_id uuid not null,
  date date not null,
  kind text not null,
  ad_id text not null,
  cause text not null,
  scan_id text not null,
  observed_at timestamptz not null,
  primary key (brand_id, date, kind, ad_id, cause, scan_id)
);

-- Landing pages that a brand's ads led to and social pages that ran them, as first seen in the order of observation.
create table met (
  brand_id uuid not null,
  kind text not null,
  key text not null,
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

-- The same, as the log reported each of them first. A late scan never changes a row: signals compare the rows with those of
-- `met`, and mark what differs.
create table reported (
  brand_id uuid not null,
  kind text not null,
  key text not null,
  date date not null,
  observed_at timestamptz not null,
  -- Lowest log position of the events that reported it.
  position bigint not null,
  -- True if these are corrections.
  is_added boolean not null,
  news boolean not null,
  started_on date,
  ad_id text not null,
  social_page_id text,
  page_name text,
  destination_url text,
  primary key (brand_id, kind, key)
);

-- Observations of links of social pages with a brand. `role` is null while the page is not linked. `page_name` is null when
-- the observation has no name: it repeats one, or is older than another.
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

-- Signals: their figures and the first things they name, as JSON. Sentences and links are made when read. A signal all of
-- whose items were withdrawn stays, and its `correction` says so.
create table signal (
  id uuid not null,
  brand_id uuid not null,
  date date not null,
  kind text not null,
  observed_at timestamptz not null,
  figures jsonb not null,
  about jsonb not null,
  correction text,
  primary key (brand_id, date, kind)
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index named_ad_of_occurrence on named_ad (ad_id, cause, scan_id);
create index met_on_day on met (brand_id, date);
create index reported_on_day on reported (brand_id, date);
create index link_on_day on link (brand_id, date);
create index link_first on link (brand_id, observed_at) where role is not null;
create index signal_newest on signal (brand_id, observed_at desc, id desc) include (kind);
create index signal_newest_of_all on signal (observed_at desc, id desc) include (brand_id, kind);
create unique index signal_by_id on signal (id);
create index applied_scan_newest on applied_scan (scanned_at);
