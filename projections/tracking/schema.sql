-- Brands tracked by workspaces. A change of cadence sets one column of an existing row, so the other columns
-- have defaults. Times are ISO text in UTC with milliseconds, so they sort as text.
create table tracked_brand (
  workspace_id text not null,
  brand_id uuid not null,
  cadence text not null default 'weekly',
  tracked_at text collate "C" not null default '',
  primary key (workspace_id, brand_id)
);
-- indexes
create index tracked_brand_newest on tracked_brand (workspace_id, tracked_at desc, brand_id desc);
create index tracked_brand_followers on tracked_brand (brand_id);
