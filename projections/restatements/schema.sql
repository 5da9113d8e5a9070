-- Restatements of delivered briefs and reports.
create table restatement (
  workspace_id text not null,
  restatement_id uuid not null,
  -- `brief` or `report`, and its id.
  kind text not null,
  document_id uuid not null,
  -- Log position of the event.
  position bigint not null,
  -- JSON text; U+0001 is the placeholder for the service's base URL.
  item text not null,
  primary key (workspace_id, restatement_id)
);
-- indexes
create index restatement_newest on restatement (workspace_id, position desc);
create index restatement_of_document on restatement (workspace_id, document_id, position desc);
