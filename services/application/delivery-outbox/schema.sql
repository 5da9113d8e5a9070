-- Transactional outbox of alert deliveries, and the journal of their attempts. The NATS queue carries only ids of
-- these rows. The rows are written first; the journal relay then publishes each journal entry to the log as an event.
create schema if not exists delivery;

-- Content and target of each delivery. The UTF-8 bytes of `payload` are exactly what is signed and sent. A row is
-- written once; only its target may change.
create table if not exists delivery.delivery (
  delivery_id uuid primary key,
  workspace_id text not null,
  alert_id uuid not null,
  channel text not null,
  kind text not null,
  queued_at timestamptz not null,
  -- Short key of the receiver: deliveries with the same key share its limits.
  endpoint text not null,
  target text not null,
  payload text not null
);
create index if not exists delivery_of_alert on delivery.delivery (alert_id);
create index if not exists delivery_queued on delivery.delivery (queued_at, delivery_id);

-- Queue: deliveries that are not finished. Rows are small because each attempt writes them twice. A finished delivery has
-- no row. Of each endpoint, the first due rows may be claimed, as many as it has places; the others wait behind them.
create table if not exists delivery.due (
  delivery_id uuid primary key,
  workspace_id text not null,
  -- Rule of the delivery: the waiting deliveries of a rule are counted without its finished ones.
  alert_id uuid not null,
  endpoint text not null,
  attempts integer not null,
  -- Attempts before the last replay. The retry schedule starts again after a replay.
  attempts_before integer not null,
  -- Back-off: no attempt before this.
  next_attempt_at timestamptz not null,
  -- Lease: the worker that has claimed the delivery, and the expiry. The lease of a crashed worker expires.
  taken_by text,
  taken_until timestamptz
) with (
  -- Free space on each page for a second version of every row, so that a claim is a HOT update without index writes.
  fillfactor = 45
);
create index if not exists due_of_endpoint on delivery.due (endpoint, next_attempt_at, delivery_id);
create index if not exists due_of_alert on delivery.due (alert_id, endpoint);

-- Endpoints that failed last, and chat addresses, which take one message a second. No row: claims have no limit but the
-- places of the endpoint.
create table if not exists delivery.endpoint (
  endpoint text primary key,
  -- No claim before this.
  not_before timestamptz not null,
  -- One place until a delivery arrives, so that endpoints that fail take few of all places.
  is_failing boolean not null
);

-- Deliveries that have no row in `due`, because too many of their rule wait for the same endpoint. They are sent later as
-- one message, which is a delivery of its own; they are cancelled then.
create table if not exists delivery.held (
  delivery_id uuid primary key,
  alert_id uuid not null,
  endpoint text not null,
  seq bigint generated always as identity,
  items_total integer not null,
  as_of text not null
);
create index if not exists held_of_alert on delivery.held (alert_id, endpoint, seq);

-- Journal: everything that happened to deliveries, in order. It is the attempt log and the source of the events. The
-- last entry of a delivery holds its outcome; `attempt` is the number of attempts up to the entry.
create table if not exists delivery.journal (
  seq bigint generated always as identity primary key,
  delivery_id uuid not null,
  type text not null,
  at timestamptz not null,
  attempt integer not null,
  outcome text,
  failure text,
  status_code integer,
  reason text,
  duration_ms integer,
  next_attempt_at timestamptz,
  dns_ms real,
  connect_ms real,
  tls_ms real,
  wait_ms real,
  answer bytea,
  -- Request of a member that caused the entry: `actor`, `request_id` and `command_id`, for the metadata of its event.
  cause jsonb
);
create index if not exists journal_of_delivery on delivery.journal (delivery_id, seq);
create index if not exists journal_failed on delivery.journal (at, delivery_id) where outcome = 'failed';

create index if not exists journal_of_command on delivery.journal ((cause ->> 'command_id')) where cause is not null;

-- Deliveries with their current status.
create or replace view delivery.overview as
select d.delivery_id, d.workspace_id, d.alert_id, d.channel, d.kind, d.endpoint, d.target, d.queued_at,
  case
    when u.attempts > u.attempts_before then 'retrying'
    when u.attempts is not null then 'queued'
    when last.type = 'DeliveryCancelled' then 'cancelled'
    when last.type = 'DeliveryQueued' then 'queued'
    else last.outcome
  end as status,
  coalesce(u.attempts, last.attempt) as attempts,
  u.next_attempt_at, u.taken_by, u.taken_until,
  last.at as finished_at
from delivery.delivery d
left join delivery.due u using (delivery_id)
left join lateral (
  select j.type, j.outcome, j.attempt, j.at from delivery.journal j
  where j.delivery_id = d.delivery_id order by j.seq desc limit 1
) last on u.delivery_id is null;

-- Entries get their sequence numbers before they commit, so a higher number can become visible first. Writers hold
-- this advisory lock shared until they commit. The relay takes it exclusively for a moment to read the last number:
-- all entries up to it are then visible, and it skips none. The alternative, the horizon (`xmin`) of a snapshot, would
-- not advance while any other transaction of the server is open.
create or replace function delivery.share_journal() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7205314);
  return null;
end $$;
create or replace trigger share_journal before insert on delivery.journal
  for each statement execute function delivery.share_journal();

-- Cursor of the journal relay: the last entry that is published as an event.
create table if not exists delivery.recorded (
  single_row boolean primary key default true check (single_row),
  seq bigint not null
);

-- Entries of the journal that the event store refuses, with the reason. The relay has passed them; operators try again.
create table if not exists delivery.unrecorded (
  seq bigint primary key,
  delivery_id uuid not null,
  type text not null,
  reason text not null,
  at timestamptz not null
);

-- Revision of each rule's delivery stream after the last append of the relay.
create table if not exists delivery.stream (
  alert_id uuid primary key,
  revision bigint not null
);

-- Failure streaks: endpoints without a successful attempt since `since`. No row means healthy.
create table if not exists delivery.failing (
  alert_id uuid not null,
  channel text not null,
  workspace_id text not null,
  since timestamptz not null,
  last_at timestamptz not null,
  suspended_at timestamptz,
  primary key (alert_id, channel)
);
