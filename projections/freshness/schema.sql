-- When each brand was last scanned, and last scanned reliably; and how fresh it is as JSON text, null while it was
-- neither scanned nor tracked.
create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  scanned_at timestamptz,
  reliable_at timestamptz,
  freshness text
);

-- Who tracks a brand how often: the tier is the most demanding. What a workspace's list shows stands with each, since
-- it lists thousands at once: when the brand was last scanned, since when hours count, and the item up to these hours
-- (null while the brand is not registered).
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
