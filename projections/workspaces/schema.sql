-- Workspaces and their members, by name. Columns that a later event sets alone have defaults.
create table workspace (
  workspace_id text primary key,
  name text not null default '',
  plan text not null default 'free',
  created_at text collate "C" not null default ''
);
create table member (
  workspace_id text not null,
  member_id text not null,
  name text not null default '',
  -- Name and e-mail address, encrypted: readers open it with the member's key, so erasing works at once.
  sealed text,
  role text not null default 'viewer',
  added_at text collate "C" not null default '',
  primary key (workspace_id, member_id)
);
-- indexes
create index workspace_newest on workspace (created_at desc, workspace_id desc);
