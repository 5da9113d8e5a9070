-- The hash of an entry, as contracts/audit/entry.ts defines it. It is an aggregate function, so one window over the
-- events of a batch chains each entry to the previous one.
create function chained(before text, first_before text, sequence bigint, record text) returns text
  language sql immutable
  return encode(
    sha256(convert_to(coalesce(before, first_before) || E'\n' || sequence || E'\n' || record, 'UTF8')), 'hex');
create aggregate chain(first_before text, sequence bigint, record text) (sfunc = chained, stype = text);

-- One row per event. `record` is the canonical text that is hashed; the columns after it are for filters.
create table entry (
  workspace_id text not null,
  sequence bigint not null,
  hash text not null,
  record text not null,
  type text not null,
  actor text not null,
  recorded_at text collate "C" not null,
  category text not null,
  resource_id text not null,
  primary key (workspace_id, sequence)
);
-- indexes
create index entry_by_type on entry (workspace_id, type, sequence);
create index entry_by_actor on entry (workspace_id, actor, sequence);
create index entry_by_resource on entry (workspace_id, category, resource_id, sequence);
