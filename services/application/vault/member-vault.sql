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

-- Blind index of members' e-mail addresses: a keyed hash, by which a person is found who enters the address. It is
-- erased with the member. `account_id` is null for members without an address. Rows that are missing are added from
-- the encrypted addresses, so the table needs no backup.
create table if not exists vault.member_address (
  workspace_id text not null,
  member_id text not null,
  account_id text,
  primary key (workspace_id, member_id)
);
create index if not exists member_by_address on vault.member_address (account_id) where account_id is not null;

-- Key of these hashes, wrapped by the master key.
create table if not exists vault.index_key (
  single_row boolean primary key default true check (single_row),
  wrapped_key bytea not null
);
