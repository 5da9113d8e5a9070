-- API keys of workspaces, revoked ones included. `issued` is the JSON text of the fields fixed at issue.
-- Neither the key nor its hash is stored here. Times are ISO text in UTC with milliseconds, so they sort as
-- text.
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
