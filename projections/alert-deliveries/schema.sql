-- Deliveries of alert rules. Times are ISO text in UTC with milliseconds, so they sort as text.
create table delivery (
  workspace_id text not null,
  delivery_id uuid not null,
  alert_id uuid not null,
  channel text not null,
  kind text not null,
  items_total bigint not null,
  created_at text collate "C" not null,
  -- That of the outcome, so that indexes serve lists by status.
  status text not null default 'queued',
  primary key (workspace_id, delivery_id)
);
-- The current outcome; no row before the first attempt. A separate table, so that alternating queued and
-- attempted events are still written set-wise.
create table outcome (
  workspace_id text not null,
  delivery_id uuid not null,
  alert_id uuid not null,
  status text not null,
  next_attempt_at text,
  finished_at text collate "C",
  reason text,
  primary key (workspace_id, delivery_id)
);
-- One row per attempt, keyed by the revision of its event in the rule's stream.
create table attempt (
  workspace_id text not null,
  delivery_id uuid not null,
  alert_id uuid not null,
  revision bigint not null,
  -- JSON text.
  doc text not null,
  primary key (workspace_id, delivery_id, revision)
);
-- Deleted rules: later events of their deliveries are dropped.
create table deleted_alert (
  workspace_id text not null,
  alert_id uuid not null,
  primary key (workspace_id, alert_id)
);
-- indexes
create index delivery_newest on delivery (workspace_id, created_at desc, delivery_id desc);
create index delivery_newest_of_alert on delivery (workspace_id, alert_id, created_at desc, delivery_id desc);
create index delivery_newest_of_status on delivery (workspace_id, status, channel, created_at desc, delivery_id desc);
create index delivery_newest_of_alert_status
  on delivery (workspace_id, alert_id, status, channel, created_at desc, delivery_id desc);
create index outcome_failed on outcome (workspace_id, finished_at, delivery_id) where status = 'failed';
create index outcome_of_alert on outcome (workspace_id, alert_id);
create index attempt_of_alert on attempt (workspace_id, alert_id);
