create schema if not exists intake;

-- Keys of third-party collectors. The log has no events about them, so this table needs a backup, like the vaults.
create table if not exists intake.collector_key (
  key_id text primary key,
  -- First part of the collector name in every scan that is sent with the key. Several keys may share a name.
  name text collate "C" not null,
  sha256 text not null unique,
  last_four text not null,
  -- Types of observations that the key may send; null: all, also later ones.
  types text[],
  issued_at timestamptz not null default now(),
  revoked_at timestamptz
);

-- Tasks of third-party collectors: one row per type of observation and brand that was ever leased. Which brands are
-- wanted, and how often, follows from the brands that workspaces track.
create table if not exists intake.task (
  type text not null,
  domain text not null,
  -- The lease that may end the task; null when it has ended.
  lease_id uuid,
  -- The task may be leased again from this time on.
  lease_until timestamptz,
  -- Start of the lease that was done last.
  done_at timestamptz,
  -- Not leased before this time, after a failure.
  retry_at timestamptz,
  -- Failures in a row.
  failures int not null default 0,
  primary key (type, domain)
);

-- Every lease for 30 days, with its end. A repeated end finds the first one here.
create table if not exists intake.lease (
  lease_id uuid primary key,
  type text not null,
  domain text not null,
  -- Name of the collector that leased it. Any key of that collector may end it.
  collector text collate "C" not null,
  leased_at timestamptz not null,
  lease_until timestamptz not null,
  ended_at timestamptz,
  -- `done` or `failed`; null until the end.
  outcome text,
  reason text
);
create index if not exists lease_open on intake.lease (collector, lease_until) where ended_at is null;
create index if not exists lease_age on intake.lease (leased_at);
