-- Keys of third-party collectors. The log has no events about them, so this table needs a backup, like the vaults.
create schema if not exists intake;

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
