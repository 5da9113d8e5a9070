-- Tables for authentication of API keys and connections. They are derived from the streams `workspace-…`,
-- `apiKeys-…` and `connection-…`, stream by stream, so they can be dropped at any time and are filled again. Other tables are not derived. `idempotency` stores
-- replies for one day only. `key_use` is operational data without events; without it, keys and connections appear never used.
create schema if not exists access;

-- Last applied revision of each stream. The row is also the lock under which a stream is applied.
create table if not exists access.stream (
  stream text primary key,
  revision bigint not null
);

-- Checkpoint: every event up to this log position is applied.
create table if not exists access.checkpoint (
  single_row boolean primary key default true check (single_row),
  position bigint not null
);

create table if not exists access.workspace (
  workspace_id text primary key,
  plan text not null
);

create table if not exists access.member (
  workspace_id text not null,
  member_id text not null,
  role text not null,
  primary key (workspace_id, member_id)
);

create table if not exists access.api_key (
  sha256 text primary key,
  key_id text not null,
  workspace_id text not null,
  member_id text not null,
  scopes text[] not null,
  revoked boolean not null default false,
  unique (workspace_id, key_id)
);
-- Index of active keys. A workspace has few of them, and may have revoked many.
create index if not exists api_key_active on access.api_key (workspace_id) where not revoked;

-- Connections of apps: the access of one app to a workspace as one member. Scopes are those the member granted; at
-- use, the member's role bounds them. Times are ISO text in UTC.
create table if not exists access.connection (
  connection_id text primary key,
  workspace_id text not null,
  member_id text not null,
  app jsonb not null,
  scopes text[] not null,
  allowed_at text collate "C" not null,
  expires_at timestamptz not null,
  connected boolean not null default false,
  ended boolean not null default false
);
create index if not exists connection_of_workspace on access.connection (workspace_id, member_id) where not ended;

-- Time of the last request with a key or of a connection, as ISO text in UTC. Written in batches; the time never decreases.
create table if not exists access.key_use (
  workspace_id text not null,
  key_id text collate "C" not null,
  last_used_at text collate "C" not null,
  primary key (workspace_id, key_id)
);

-- Idempotency keys: replies to POST requests that carried one. `status` is null while the first request runs.
create table if not exists access.idempotency (
  scope text not null,
  path text not null,
  key text not null,
  fingerprint text not null,
  command_id uuid not null,
  status integer,
  answer text,
  created_at timestamptz not null,
  taken_at timestamptz not null,
  -- True for a reply with a text that is shown once. `key_id` is the API key whose text it is; null for another secret.
  shown_once boolean not null default false,
  key_id text,
  -- Id of the request that runs, or ran last, under this key. A request that takes the claim over keeps `command_id` and
  -- has an id of its own.
  taken_by uuid,
  primary key (scope, path, key)
);
create index if not exists idempotency_age on access.idempotency (created_at);
create index if not exists idempotency_shown_once on access.idempotency (created_at) where shown_once and answer is not null;
