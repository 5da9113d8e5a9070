-- Workspaces and their members. Columns that a later event sets on its own have defaults.
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
  -- Encrypted name and e-mail address. Readers decrypt it with the member's key, so deleting the key erases
  -- it at once.
  sealed text,
  role text not null default 'viewer',
  added_at text collate "C" not null default '',
  primary key (workspace_id, member_id)
);
-- indexes
create index workspace_newest on workspace (created_at desc, workspace_id desc);
