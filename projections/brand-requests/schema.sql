-- Brands that workspaces asked for. Times are ISO text in UTC with milliseconds, so they sort as text.
create table request (
  workspace_id text not null,
  request_id uuid not null,
  brand_id uuid not null,
  domain text not null,
  social_page_id text,
  track boolean not null,
  cadence text not null,
  forecast jsonb,
  forecast_reason text,
  requested_by text not null,
  requested_at text collate "C" not null,
  status text not null,
  reason text,
  decided_at text,
  tracking text not null,
  slug text,
  ready_at text,
  primary key (workspace_id, request_id)
);
-- indexes
create index request_newest on request (workspace_id, requested_at desc, request_id desc);
create index request_newest_of_status on request (workspace_id, status, requested_at desc, request_id desc);
create index request_open on request (brand_id) where status in ('requested', 'collecting');
