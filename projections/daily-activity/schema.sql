-- One row per day on which a brand was observed; other days have no row.
create table day (
  brand_id uuid not null,
  date date not null,
  active_ads bigint not null,
  new_ads bigint not null,
  retired_ads bigint not null,
  reliable boolean not null,
  observed_at timestamptz not null,
  -- True if only scans that arrived after newer ones reported this day.
  late_arrival boolean not null,
  primary key (brand_id, date)
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index applied_scan_newest on applied_scan (scanned_at);
