-- The working tables that requests are authenticated with. Folded from the streams `workspace-…` and
-- `apiKeys-…`, stream by stream, so they can be dropped at any time. Two are not derived: `idempotency`, which
-- is kept for a day only, and `key_use`, which is operational and no event; without it keys look never used.
create schema if not exists access;

-- Up to which revision a stream is folded in. Its row is the lock under which that happens.
create table if not exists access.stream (
  stream text primary key,
  revision bigint not null
);

-- Up to which position of the log every stream is folded in.
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

-- When a request last used a key, as ISO text in UTC. Written in batches, never backwards.
create table if not exists access.key_use (
  workspace_id text not null,
  key_id text collate "C" not null,
  last_used_at text collate "C" not null,
  primary key (workspace_id, key_id)
);

-- Answers to POST requests that carried an idempotency key. `status` is null while the first one runs.
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
  primary key (scope, path, key)
);
create index if not exists idempotency_age on access.idempotency (created_at);
