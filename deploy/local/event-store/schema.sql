create schema if not exists event_store;

-- One row per event. Rows are only ever inserted, by the one process that holds the advisory lock.
-- Payloads of a few hundred bytes gain nothing from compression and pay for it on every read: external storage.
create table if not exists event_store.event (
  position bigint primary key,
  revision bigint not null,
  id uuid not null,
  created timestamptz not null,
  is_json boolean not null,
  stream text collate "C" not null,
  type text collate "C" not null,
  metadata bytea storage external not null,
  data bytea storage external not null,
  constraint event_stream_revision unique (stream, revision)
);

-- Tombstones are few and all of them are held in memory: this index finds them at a start.
create index if not exists event_tombstone on event_store.event (stream) where revision = 9223372036854775807;
