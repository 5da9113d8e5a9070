-- Number of notes per workspace.
create table note_count (
  workspace_id text primary key,
  notes bigint not null default 0
);
-- indexes
