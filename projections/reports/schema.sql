-- CSV exports requested by workspaces. Later events set some columns of an existing row, so the other columns
-- have defaults. Times are ISO text in UTC with milliseconds, so they sort as text.
create table report (
  workspace_id text not null,
  report_id uuid not null,
  status text not null default 'queued',
  all_tracked boolean not null default false,
  brands int not null default 0,
  -- Null for exports of all tracked brands: that list may be long, and no read needs it.
  brand_ids text[],
  types text[] not null default '{}',
  from_date text not null default '',
  to_date text not null default '',
  requested_at text collate "C" not null default '',
  -- While queued or running: the time from which a worker may claim it.
  claimable_at text collate "C" not null default '',
  started_at text,
  finished_at text,
  failure text,
  object_key text,
  bytes bigint,
  rows bigint,
  sha256 text,
  primary key (workspace_id, report_id)
);
-- indexes
create index report_newest on report (workspace_id, requested_at desc, report_id desc);
create index report_claimable on report (claimable_at) where status in ('queued', 'running');
