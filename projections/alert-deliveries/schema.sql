-- What rules sent, or tried to. Times are ISO text in UTC with milliseconds, which sorts as they do.
create table delivery (
  workspace_id text not null,
  delivery_id uuid not null,
  alert_id uuid not null,
  channel text not null,
  kind text not null,
  items_total bigint not null,
  created_at text collate "C" not null,
  primary key (workspace_id, delivery_id)
);
-- What became of it; none before its first attempt. A table of its own, so that what is queued and what is sent in
-- turns is still written set-wise.
create table outcome (
  workspace_id text not null,
  delivery_id uuid not null,
  alert_id uuid not null,
  status text not null,
  next_attempt_at text,
  finished_at text,
  reason text,
  primary key (workspace_id, delivery_id)
);
-- One row an attempt, by the number of its event in the stream of the rule.
create table attempt (
  workspace_id text not null,
  delivery_id uuid not null,
  alert_id uuid not null,
  revision bigint not null,
  -- JSON text.
  doc text not null,
  primary key (workspace_id, delivery_id, revision)
);
-- Rules that are deleted: what still comes of them is dropped.
create table deleted_alert (
  workspace_id text not null,
  alert_id uuid not null,
  primary key (workspace_id, alert_id)
);
-- indexes
create index delivery_newest on delivery (workspace_id, created_at desc, delivery_id desc);
create index delivery_newest_of_alert on delivery (workspace_id, alert_id, created_at desc, delivery_id desc);
create index outcome_of_alert on outcome (workspace_id, alert_id);
create index attempt_of_alert on attempt (workspace_id, alert_id);
