-- Holds tokens, codes, clients, sessions and interactions of the authorization server. It is not derived from the
-- log and has its own backup, with the vault. Ids are stored as SHA-256, so that a copy of the table opens nothing.
create schema if not exists oauth;

create table if not exists oauth.record (
  kind text not null,
  key text not null,
  -- Connection of the record's grant, for tokens and codes.
  connection_id text,
  -- SHA-256 of the second id by which sessions are found.
  uid text,
  -- Without the id of the record.
  payload jsonb not null,
  consumed_at timestamptz,
  expires_at timestamptz,
  primary key (kind, key)
);
create index if not exists record_of_connection on oauth.record (connection_id) where connection_id is not null;
create unique index if not exists record_by_uid on oauth.record (kind, uid) where uid is not null;
create index if not exists record_expiry on oauth.record (expires_at) where expires_at is not null;
