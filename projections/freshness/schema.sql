-- When each brand was last scanned, and last scanned reliably.
create table brand (
  brand_id uuid primary key,
  scanned_at timestamptz,
  reliable_at timestamptz
);

-- Who tracks a brand how often: the tier is the most demanding.
create table tracker (
  brand_id uuid not null,
  workspace_id text not null,
  cadence text not null,
  tracked_at timestamptz,
  primary key (brand_id, workspace_id)
);
-- indexes
create index brand_by_scan on brand (scanned_at);
