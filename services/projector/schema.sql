-- The projector's own tables: where each projection stands, what it could not apply, and what operators ask for.
-- Requests are columns and rows that the owning process takes up when it is notified on `projector_control`, or on
-- its next look: who asked may be gone by then.
create schema if not exists projector;
create extension if not exists pg_trgm with schema public;

create table if not exists projector.projection (
  name text primary key,
  version int not null,
  -- Commit position of $all: everything up to here is applied, or parked.
  position bigint not null,
  -- building (beside, or for the first time) | live | failed
  state text not null,
  facts_applied bigint not null default 0,
  last_error text,
  started_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A changed version under construction in the schema <name>_next.
create table if not exists projector.build (
  name text primary key,
  version int not null,
  position bigint not null,
  facts_applied bigint not null default 0,
  updated_at timestamptz not null default now()
);

-- Facts a projection could not apply, and the later events of the same stream, in order.
create table if not exists projector.parked (
  projection text not null,
  stream text not null,
  position bigint not null,
  type text not null,
  -- Why the first event of the stream failed; null for those that only wait behind it.
  error text,
  parked_at timestamptz not null default now(),
  primary key (projection, stream, position)
);

alter table projector.projection
  -- Stream categories that the projection follows, `brand-`.
  add column if not exists prefixes text[] not null default '{}',
  -- Of schema and statements, to tell a change that nobody raised the version for.
  add column if not exists fingerprint text,
  -- The process that took it over last. Whether it lives, its advisory lock says.
  add column if not exists owner text,
  add column if not exists is_paused boolean not null default false,
  -- Pause when everything up to this position is applied.
  add column if not exists pause_at bigint,
  -- A newer process has this version ready and waits for the owner to let go.
  add column if not exists wanted_version int,
  -- Since when the position stands still though there are events to apply.
  add column if not exists standing_since timestamptz;

alter table projector.build
  -- asked | reading | indexing | ready | failed (at an event that cannot be applied) | done | cancelled
  add column if not exists state text not null default 'reading',
  -- When asked for: begin with nothing, also where an unfinished build could go on.
  add column if not exists from_start boolean not null default true,
  add column if not exists is_cancelled boolean not null default false,
  add column if not exists error text,
  add column if not exists requested_by text,
  add column if not exists requested_at timestamptz not null default now(),
  add column if not exists started_at timestamptz,
  -- Since the build was begun or resumed, for the rate.
  add column if not exists resumed_at timestamptz,
  add column if not exists resumed_facts bigint not null default 0,
  add column if not exists finished_at timestamptz;

alter table projector.parked
  add column if not exists revision bigint,
  add column if not exists attempts int not null default 1,
  add column if not exists tried_at timestamptz,
  -- retry | skip, of the event that failed.
  add column if not exists asked text;

-- Facts that an operator left out of a projection. A rebuild and `verify` leave them out too.
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

-- The tables that a swap replaced, in the schema <name>_old, until the swap is proven or they are old.
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

-- Facts of the whole log by stream category, up to a position: what lag in events is counted against.
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

-- Where projections stood, every few seconds of the last hour: rates, and lag over time.
create table if not exists projector.sample (
  at timestamptz not null,
  name text not null,
  position bigint not null,
  facts_applied bigint not null,
  lag_facts bigint not null,
  primary key (name, at)
);
