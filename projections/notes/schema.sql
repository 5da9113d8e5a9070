-- Members' notes. Times are ISO text in UTC with milliseconds, so they sort as text.
create table note (
  workspace_id text not null,
  note_id uuid not null,
  subject_type text not null,
  subject_key text not null,
  body text not null,
  created_by text not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  primary key (workspace_id, note_id)
);
-- indexes
create index note_newest on note (workspace_id, updated_at desc, note_id desc);
create index note_newest_on_type on note (workspace_id, subject_type, updated_at desc, note_id desc);
create index note_newest_on_subject on note (workspace_id, subject_type, subject_key, updated_at desc, note_id desc);
