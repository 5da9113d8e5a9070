-- Requested scans of brands that are due, so that a brand that is never scanned waits behind the others.
create schema if not exists scan_requests;

create table if not exists scan_requests.brand (
  brand_id uuid primary key,
  -- Last scan of the brand when it was requested; a later scan starts the count again.
  scanned_at timestamptz,
  requests integer not null,
  next_at timestamptz not null
);
create index if not exists brand_by_time on scan_requests.brand (next_at);
