-- Tables of the leases on work, and of how far it has come.
create schema if not exists run;

-- Name of this installation on servers that several share, such as NATS.
create table if not exists run.installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);
insert into run.installation default values on conflict do nothing;

-- One row per kind and part of work: the process that does it. A row is never deleted, because its epoch only grows:
-- each takeover raises it by a random number, and a write of an earlier owner fails on it.
create table if not exists run.lease (
  kind text not null,
  part text not null,
  owner text not null,
  epoch bigint not null,
  -- Another process may take the work over after this time. Only the epoch says whose writes are valid.
  until timestamptz not null,
  primary key (kind, part)
);

-- Position in $all that the work of a part has reached, and the epoch of the lease that may move it. A takeover writes
-- the new epoch here in the transaction that raises it, and so waits for an open transaction of the former owner.
create table if not exists run.progress (
  kind text not null,
  part text not null,
  position bigint not null,
  epoch bigint not null,
  primary key (kind, part)
);

-- The newest event that the projector has seen. A process that finds another event, or none, at its position does not
-- start: the log is not the one from which the read models were computed.
create table if not exists run.known_event (
  is_only boolean primary key default true check (is_only),
  position bigint not null,
  event_id uuid not null
);
