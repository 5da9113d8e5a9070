-- Tables of the projector itself: read models, dead letters, rebuilds, verifications and operator requests. A
-- request is stored in a row. The owning process finds it when notified on `projector_control`, or at its
-- next poll, so the requester need not stay connected.
create schema if not exists projector;
create extension if not exists pg_trgm with schema public;

-- Without read models the log is projected from its beginning.
do $$
begin
  if to_regclass('projector.read_model') is null then
    delete from run.progress where kind = 'projections';
  end if;
end $$;

create table if not exists projector.read_model (
  name text primary key,
  version int not null,
  -- building (first build, or rebuild of a new version) | live | failed
  state text not null,
  facts_applied bigint not null default 0,
  last_error text,
  started_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Stream categories that the projection follows, `brand-`.
  prefixes text[] not null default '{}',
  -- Hash of schema and statements. Detects a change without a new version.
  fingerprint text,
  is_paused boolean not null default false,
  -- Pause once every event up to this position is applied.
  pause_at bigint,
  -- A newer process has this version ready and waits until the owner releases the lock.
  wanted_version int,
  -- Start of a stall: since then the position has not moved although events wait. Null if not stalled.
  standing_since timestamptz
);

-- Projections that are not at the position of their part in `run.progress`: each has its own. One ahead of it, by a
-- rebuild or a batch that is not finished, has a row too.
create table if not exists projector.behind (
  projection text not null,
  part text not null,
  -- Commit position in $all: every event up to here is applied or parked.
  position bigint not null,
  -- Epoch of the lease whose owner may write this row. Negative: of the projection's own lease, while it is apart.
  epoch bigint not null,
  -- catching_up | failing (its last batch failed) | paused (by an operator)
  -- | apart (the owner of the part has other code: a process with the right code may follow it under a lease of its own)
  state text not null,
  error text,
  -- Time of the next attempt while it is failing.
  next_try timestamptz,
  primary key (projection, part)
);

insert into run.progress (kind, part, position, epoch) values ('projections', 'all', 0, 0) on conflict do nothing;

-- Rebuilds: one per projection, in the schema <name>_next.
create table if not exists projector.build (
  name text primary key,
  version int not null,
  position bigint not null,
  facts_applied bigint not null default 0,
  updated_at timestamptz not null default now(),
  -- asked | reading | indexing | ready | failed (at its tables or indexes) | done | cancelled
  state text not null default 'reading',
  -- While the state is asked: start from the beginning, even if an unfinished rebuild could be resumed.
  from_start boolean not null default true,
  is_cancelled boolean not null default false,
  error text,
  requested_by text,
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  -- Start of the current run (first or resumed), and events applied before it, for the rate.
  resumed_at timestamptz,
  resumed_facts bigint not null default 0,
  finished_at timestamptz
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
  revision bigint,
  attempts int not null default 1,
  tried_at timestamptz,
  -- Schema version that a release must know to read the failed event. Null where it failed for another reason.
  waits_for_version int,
  -- Request of an operator for the failed event: retry | skip.
  asked text,
  primary key (projection, stream, position)
);

-- The same for a rebuild. A swap makes them those of the live tables.
create table if not exists projector.parked_in_build (like projector.parked including all);

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

-- The read models with their positions and owners. Columns of `read_model` can be updated through it.
create or replace view projector.projection as
select m.name, m.version,
  -- Every event up to here is applied or parked, in all parts.
  (select min(coalesce(b.position, p.position)) from run.progress p
   left join projector.behind b on b.projection = m.name and b.part = p.part
   where p.kind = 'projections') as position,
  m.state, m.facts_applied, m.last_error, m.started_at, m.updated_at, m.prefixes, m.fingerprint,
  -- The process that follows it now; null when none does.
  (select l.owner from run.lease l where l.until > now() and (
     case when exists (select from projector.behind b where b.projection = m.name and b.state = 'apart')
       then l.kind = 'projection' and l.part = m.name else l.kind = 'projections' end) limit 1) as owner,
  m.is_paused, m.pause_at, m.wanted_version, m.standing_since
from projector.read_model m;

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
