-- Recorded scans, with their coverage. `own`: made for the brand. A scan that is neither own nor reliable does not count.
-- `no_look`: a correction says that it was no look at the brand.
create table scan (
  brand_id uuid not null,
  date date not null,
  scan_id text collate "C" not null,
  observed_at timestamptz not null,
  own boolean not null,
  reliable boolean not null,
  no_look boolean not null,
  complete boolean not null,
  collector text not null,
  countries text[] not null,
  pages text[] not null,
  primary key (brand_id, date, scan_id)
);

-- Time of the last scan that counts and of the last reliable scan per brand, and its freshness as JSON text (null if it
-- was neither scanned nor tracked). `applied_at`: time of the last recorded scan, whether it counts or not. `known_since`:
-- time of the observation that registered the brand.
create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  scanned_at timestamptz,
  reliable_at timestamptz,
  applied_at timestamptz,
  known_since timestamptz,
  freshness text
);

-- Cadence by workspace and brand; the tier of a brand is its most demanding cadence. A workspace lists
-- thousands of brands at once, so each row holds what the list shows: the last scan, the start of the hour
-- count, and the item up to these hours (null while the brand is not registered).
create table tracker (
  workspace_id text not null,
  brand_id uuid not null,
  cadence text not null,
  tracked_at timestamptz,
  scanned_at timestamptz,
  counted_from timestamptz,
  item text,
  primary key (brand_id, workspace_id)
);
-- indexes
create index brand_by_scan on brand (scanned_at);
create index tracker_by_scan on tracker (workspace_id, scanned_at);
create index tracker_by_cadence on tracker (brand_id, cadence);
create index tracker_by_time on tracker (brand_id, tracked_at);
