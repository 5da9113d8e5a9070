-- Tables of the projector itself: checkpoints, dead letters, rebuilds, verifications and operator requests. A
-- request is stored in a row. The owning process finds it when notified on `projector_control`, or at its
-- next poll, so the requester need not stay connected.
create schema if not exists projector;
create extension if not exists pg_trgm with schema public;

create table if not exists projector.projection (
  name text primary key,
  version int not null,
  -- Commit position in $all: every event up to here is applied or parked.
  position bigint not null,
  -- building (first build, or rebuild of a new version) | live | failed
  state text not null,
  facts_applied bigint not null default 0,
  last_error text,
  started_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Rebuilds: one per projection, in the schema <name>_next.
create table if not exists projector.build (
  name text primary key,
  version int not null,
  position bigint not null,
  facts_applied bigint not null default 0,
  updated_at timestamptz not null default now()
);

-- Dead letters: events that a projection could not apply, and the later events of the same stream, in order.
create table if not exists projector.parked (
  projection text not null,
  stream text not null,
  position bigint not null,
  type text not null,
  -- Why the first event of the stream failed; null for the events that wait behind it.
  error text,
  parked_at timestamptz not null default now(),
  primary key (projection, stream, position)
);

alter table projector.projection
  -- Stream categories that the projection follows, `brand-`.
  add column if not exists prefixes text[] not null default '{}',
  -- Hash of schema and statements. Detects a change without a new version.
  add column if not exists fingerprint text,
  -- The process that acquired it last. Its advisory lock tells whether that process is alive.
  add column if not exists owner text,
  add column if not exists is_paused boolean not null default false,
  -- Pause once every event up to this position is applied.
  add column if not exists pause_at bigint,
  -- A newer process has this version ready and waits until the owner releases the lock.
  add column if not exists wanted_version int,
  -- Start of a stall: since then the position has not moved although events wait. Null if not stalled.
  add column if not exists standing_since timestamptz;

alter table projector.build
  -- asked | reading | indexing | ready | failed (at an event that cannot be applied) | done | cancelled
  add column if not exists state text not null default 'reading',
  -- While the state is asked: start from the beginning, even if an unfinished rebuild could be resumed.
  add column if not exists from_start boolean not null default true,
  add column if not exists is_cancelled boolean not null default false,
  add column if not exists error text,
  add column if not exists requested_by text,
  add column if not exists requested_at timestamptz not null default now(),
  add column if not exists started_at timestamptz,
  -- Start of the current run (first or resumed), and events applied before it, for the rate.
  add column if not exists resumed_at timestamptz,
  add column if not exists resumed_facts bigint not null default 0,
  add column if not exists finished_at timestamptz;

alter table projector.parked
  add column if not exists revision bigint,
  add column if not exists attempts int not null default 1,
  add column if not exists tried_at timestamptz,
  -- Schema version that a release must know to read the failed event. Null where it failed for another reason.
  add column if not exists waits_for_version int,
  -- Request of an operator for the failed event: retry | skip.
  add column if not exists asked text;

-- Events that an operator excluded from a projection for good. Rebuilds and verifications exclude them too.
create table if not exists projector.skipped (
  projection text not null,
  stream text not null,
  position bigint not null,
  type text not null,
  error text,
  skipped_by text,
  skipped_at timestamptz not null default now(),
  primary key (projection, stream, position)
);

-- Tables replaced by a swap, in the schema <name>_old. Dropped after a passed verification or a time limit.
create table if not exists projector.replaced (
  name text primary key,
  version int not null,
  position bigint not null,
  replaced_at timestamptz not null default now()
);

create table if not exists projector.verification (
  name text primary key,
  -- asked | reading | comparing | passed | differs | failed | cancelled
  state text not null,
  to_position bigint,
  is_cancelled boolean not null default false,
  requested_by text,
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  position bigint,
  facts bigint not null default 0,
  report jsonb,
  error text
);

-- Event counts of the whole log by stream category, up to a position. Lag in events is computed from them.
create table if not exists projector.log (
  is_only boolean primary key default true check (is_only),
  position bigint not null,
  updated_at timestamptz not null default now()
);
create table if not exists projector.log_count (
  category text primary key,
  facts bigint not null
);

create or replace view projector.lag as
select p.name, coalesce(c.facts, 0) as log_facts,
  case when p.position >= l.position then 0
    else greatest(0, coalesce(c.facts, 0) - p.facts_applied - k.parked - s.skipped) end as lag_facts,
  k.parked, s.skipped
from projector.projection p
left join projector.log l on true
left join lateral (select sum(facts)::bigint as facts from projector.log_count where category = any(p.prefixes)) c on true
cross join lateral (select count(*) as parked from projector.parked where projection = p.name) k
cross join lateral (select count(*) as skipped from projector.skipped where projection = p.name) s;

-- Samples of projection positions, every few seconds for the last hour: rates, and lag over time. The last sample of a
-- projection without lag stays: replies of a projection that is behind hold as of its time.
create table if not exists projector.sample (
  at timestamptz not null,
  name text not null,
  position bigint not null,
  facts_applied bigint not null,
  lag_facts bigint not null,
  primary key (name, at)
);
