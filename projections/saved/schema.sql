-- Saved items of workspaces. Times are ISO text in UTC with milliseconds, so they sort as text.
create table item (
  workspace_id text not null,
  item_type text collate "C" not null,
  item_key text collate "C" not null,
  created_by text not null,
  created_at text collate "C" not null,
  primary key (workspace_id, item_type, item_key)
);
-- indexes
create index item_newest on item (workspace_id, created_at desc, item_type desc, item_key desc);
create index item_newest_of_type on item (workspace_id, item_type, created_at desc, item_key desc);
