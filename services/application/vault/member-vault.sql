-- Keys that decrypt the personal data in events. They are not derived from anything, so they have their own backup.
-- Its retention is shorter than that of the log: an old backup would restore members who were erased since.
create schema if not exists vault;
create table if not exists vault.member_key (
  workspace_id text not null,
  member_id text not null,
  wrapped_key bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, member_id)
);
