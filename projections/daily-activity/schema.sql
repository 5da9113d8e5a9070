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

-- One row per day on which a brand was observed; other days have no row. Derived from its scans.
create table day (
  brand_id uuid not null,
  date date not null,
  active_ads bigint not null,
  new_ads bigint not null,
  retired_ads bigint not null,
  reliable boolean not null,
  primary key (brand_id, date)
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);

-- When an ad last came to each brand from another one, or left it. `moved_by`: the scan by which a correction found that it
-- did; empty for a move by an event of its own.
create table last_move (
  brand_id uuid primary key,
  moved_at timestamptz not null,
  moved_by text collate "C" not null
);
-- indexes
create index applied_scan_newest on applied_scan (scanned_at);
