-- States of deciders at a revision of their stream, so that a command does not fold a long stream from its start. A cache:
-- everything follows from the log, so the schema can be dropped at any time. Unlogged: after a crash of the server the
-- table is empty.
create schema if not exists commands;

create unlogged table if not exists commands.snapshot (
  stream text primary key,
  -- Version of the decider. Other releases ignore the row.
  version integer not null,
  revision bigint not null,
  -- Id of the event at `revision`, which proves that the snapshot belongs to this log.
  event_id uuid not null,
  state text not null,
  checksum bigint not null
);
