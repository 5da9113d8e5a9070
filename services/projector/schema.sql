-- The projector's own tables: where each projection stands, and what it could not apply.
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

-- Facts a projection could not apply, and the later facts of the same stream, in order.
create table if not exists projector.parked (
  projection text not null,
  stream text not null,
  position bigint not null,
  type text not null,
  -- Why the first fact of the stream failed; null for those that only wait behind it.
  error text,
  parked_at timestamptz not null default now(),
  primary key (projection, stream, position)
);
