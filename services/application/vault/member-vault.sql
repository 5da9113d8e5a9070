-- Keys that open what events say about people. Not derived from anything: it is backed up on its own, for a shorter
-- time than the log, since whoever restores an old copy restores the people erased since.
create schema if not exists vault;
create table if not exists vault.member_key (
  workspace_id text not null,
  member_id text not null,
  wrapped_key bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, member_id)
);
