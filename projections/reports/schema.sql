-- CSV exports that workspaces asked for. Facts after the first set some columns of a present row, so the others
-- have defaults. Times are ISO text in UTC with milliseconds, which sorts as they do.
create table report (
  workspace_id text not null,
  report_id uuid not null,
  status text not null default 'queued',
  all_tracked boolean not null default false,
  brands int not null default 0,
  -- Of a request that named brands; a list of all tracked brands may be long and is asked for by nobody.
  brand_ids text[],
  types text[] not null default '{}',
  from_date text not null default '',
  to_date text not null default '',
  requested_at text collate "C" not null default '',
  -- While queued or running: from when on a worker may take it.
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
