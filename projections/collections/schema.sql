-- The collections of workspaces, with what reads show of their items. Times are ISO text in UTC with
-- milliseconds, which sorts as they do.
create table collection (
  workspace_id text not null,
  collection_id uuid not null,
  name text not null,
  description text,
  parent_id uuid,
  visibility text not null,
  editors text[] not null,
  created_by text not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  -- Ids of the members who see it; null: everybody in the workspace.
  audience text[],
  item_count integer not null default 0,
  -- JSON text of the newest items.
  items text not null default '[]',
  primary key (workspace_id, collection_id)
);
-- Of each item the latest change, by its place in the log: the first item comes with the collection's own
-- event and may be removed by an event of another stream. Between batches only those that are present are here.
create table item (
  workspace_id text not null,
  collection_id uuid not null,
  item_type text not null,
  item_key text not null,
  position bigint not null,
  present boolean not null,
  created_at text collate "C" not null,
  doc text not null,
  primary key (workspace_id, collection_id, item_type, item_key)
);
-- indexes
create index collection_newest on collection (workspace_id, updated_at desc, collection_id desc);
create index collection_inside on collection (workspace_id, parent_id);
