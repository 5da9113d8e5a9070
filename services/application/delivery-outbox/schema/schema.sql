-- What is to be sent, and what was tried. Operational: the queue carries ids of these rows, and the log gets every
-- entry of the journal as an event. Rows are the first to know, events follow from them.
create schema if not exists delivery;

-- What is sent, byte by byte (the text's UTF-8 is what is signed), and where to. Written once; an address may change.
create table if not exists delivery.delivery (
  delivery_id uuid primary key,
  workspace_id text not null,
  alert_id uuid not null,
  channel text not null,
  kind text not null,
  queued_at timestamptz not null,
  -- What is called, as a short key: deliveries with the same one share its limits.
  endpoint text not null,
  target text not null,
  payload text not null
);
create index if not exists delivery_of_alert on delivery.delivery (alert_id);
create index if not exists delivery_queued on delivery.delivery (queued_at, delivery_id);

-- What is still to be done, small because each attempt writes it twice. What is over has no row here.
create table if not exists delivery.due (
  delivery_id uuid primary key,
  endpoint text not null,
  attempts integer not null,
  -- Attempts of the rounds before the last replay: the schedule begins anew after them.
  attempts_before integer not null,
  next_attempt_at timestamptz not null,
  -- Whose attempt it is for now. A worker that died leaves a lease that runs out.
  taken_by text,
  taken_until timestamptz
) with (
  -- Room for a claimed version of every row of a page beside it, so that a claim touches no index.
  fillfactor = 45
);
create index if not exists due_next on delivery.due (next_attempt_at);

-- Everything that happened to deliveries, in order: the attempt log, and what events are made from. How a delivery
-- ended is what its last entry says; `attempt` is how many there were by then.
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
  answer bytea
);
create index if not exists journal_of_delivery on delivery.journal (delivery_id, seq);
create index if not exists journal_failed on delivery.journal (at, delivery_id) where outcome = 'failed';

-- Deliveries and how they stand, for whoever looks at some of them.
create or replace view delivery.overview as
select d.delivery_id, d.workspace_id, d.alert_id, d.channel, d.kind, d.endpoint, d.target, d.queued_at,
  case
    when u.attempts > u.attempts_before then 'retrying'
    when u.attempts is not null then 'queued'
    when last.type = 'DeliveryCancelled' then 'cancelled'
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

-- Entries get their numbers before they are committed. Whoever writes some holds this lock shared until then, and who
-- asks how far they go takes it alone for a moment, so that no entry is passed by that is not to be seen yet. The
-- horizon of a snapshot would say the same, but stand still for as long as any transaction of the server lasts.
create or replace function delivery.share_journal() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7205314);
  return null;
end $$;
create or replace trigger share_journal before insert on delivery.journal
  for each statement execute function delivery.share_journal();

-- Up to which entry of the journal there are events.
create table if not exists delivery.recorded (
  single_row boolean primary key default true check (single_row),
  seq bigint not null
);

-- The revision of a rule's stream as it was last appended to.
create table if not exists delivery.stream (
  alert_id uuid primary key,
  revision bigint not null
);

-- Endpoints that fail: since when nothing has come through. No row means healthy.
create table if not exists delivery.failing (
  alert_id uuid not null,
  channel text not null,
  workspace_id text not null,
  since timestamptz not null,
  last_at timestamptz not null,
  suspended_at timestamptz,
  primary key (alert_id, channel)
);

-- When the next message may go to a chat channel, for all workers together.
create table if not exists delivery.pace (
  endpoint text primary key,
  next_at timestamptz not null
);
