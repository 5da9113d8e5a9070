-- Weekly briefs. `counts` and `notable` are JSON. Brand names are joined from `brand` when read. Feedback
-- sets one column of an existing row, so the other columns have defaults.
create table brief (
  workspace_id text not null,
  brief_id uuid not null,
  week text not null default '',
  from_date text collate "C" not null default '',
  to_date text not null default '',
  brands int not null default 0,
  ads_started bigint not null default 0,
  ads_stopped bigint not null default 0,
  destinations_changed bigint not null default 0,
  -- [{brand_id, ads_started, ads_stopped, destinations_changed}], most changes first.
  counts jsonb not null default '[]',
  -- JSON text; U+0001 is the placeholder for the service's base URL.
  notable text not null default '[]',
  feedback text,
  prepared_at text not null default '',
  primary key (workspace_id, brief_id)
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text
);
-- indexes
create index brief_newest on brief (workspace_id, from_date desc, brief_id desc);
create index brief_of_week on brief (week);
