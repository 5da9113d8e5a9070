-- Keys of workspaces as their list shows them, revoked ones included. What is fixed when a key is issued is one
-- JSON text; neither the key nor its hash is here. Times are ISO text in UTC with milliseconds, which sorts as
-- they do.
create table api_key (
  workspace_id text not null,
  key_id text collate "C" not null,
  issued_at text collate "C" not null,
  member_id text not null,
  issued text not null,
  revoked_at text collate "C",
  primary key (workspace_id, key_id)
);
-- indexes
create index api_key_newest on api_key (workspace_id, issued_at desc, key_id desc);
