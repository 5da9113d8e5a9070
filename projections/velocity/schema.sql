-- One row per recorded scan. `out_of_order`: too late to be decided, with figures that do not hold for its own time.
create table scan (
  brand_id uuid not null,
  date date not null,
  scan_id text collate "C" not null,
  observed_at timestamptz not null,
  active_ads bigint not null,
  new_ads bigint not null,
  retired_ads bigint not null,
  reliable boolean not null,
  out_of_order boolean not null,
  primary key (brand_id, date, scan_id)
);

-- Observed days, from which a brand's weeks are rolled up.
create table day (
  brand_id uuid not null,
  date date not null,
  active_ads bigint not null,
  new_ads bigint not null,
  retired_ads bigint not null,
  reliable boolean not null,
  primary key (brand_id, date)
);

-- ISO weeks, each with the JSON item that the API passes through.
create table week (
  brand_id uuid not null,
  week_start date not null,
  item text not null,
  primary key (brand_id, week_start)
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index applied_scan_newest on applied_scan (scanned_at);
