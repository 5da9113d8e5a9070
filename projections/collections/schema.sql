-- Collections of workspaces, with the items that reads show. Times are ISO text in UTC with milliseconds, so they
-- sort as text.
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
  -- Ids of the members who may see it; null: every member of the workspace.
  audience text[],
  item_count integer not null default 0,
  -- JSON text of the newest items.
  items text not null default '[]',
  primary key (workspace_id, collection_id)
);
-- The latest change of each item, by log position. The first item comes with the collection's own event, and
-- may be removed by an event of another stream. Between batches only present items have a row.
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
