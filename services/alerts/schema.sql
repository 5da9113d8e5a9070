-- What `alerts` remembers between events, moved in one transaction with its checkpoint. All of it is folded from the
-- log, so it can be dropped at any time: deliveries that were queued before are found in the log by their ids. The
-- schema `alerts` is the read model of rules.
create schema if not exists alerting;

-- Commit position of $all up to which events are matched, and the newest time of recording met by then. Up to
-- `replayed_until`, the end of the log when these tables were made, others may have matched before: whatever is found
-- in the log is not queued again.
create table if not exists alerting.checkpoint (
  single_row boolean primary key default true check (single_row),
  position bigint not null,
  log_time text not null,
  replayed_until bigint not null
);

-- Whether the checkpoint was come to with what workspaces track; not so in tables that were made before.
alter table alerting.checkpoint add column if not exists knows_tracking boolean not null default false;

-- Brands that a workspace followed, and does not any more: its rules are told nothing of them.
create table if not exists alerting.untracked (
  workspace_id text not null,
  brand_id uuid not null,
  primary key (workspace_id, brand_id)
);

-- Rules as they stand at the checkpoint.
create table if not exists alerting.rule (
  alert_id uuid primary key,
  rule jsonb not null
);

-- How brands are called, and when a complete scan of theirs last looked.
create table if not exists alerting.brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  last_complete_at text
);

-- Pages beside brands: what happened for the first time is told once.
create table if not exists alerting.page (
  brand_id uuid not null,
  page_id text not null,
  role text,
  ran_ads boolean not null,
  was_new_partner boolean not null,
  primary key (brand_id, page_id)
);

-- Matches that wait: of a brand's scan that has not ended, or of a day or week that has not. `key` is the brand, or
-- the first day.
create table if not exists alerting.collected (
  alert_id uuid not null,
  cadence text not null,
  key text not null,
  items_total integer not null,
  as_of text not null,
  primary key (alert_id, cadence, key)
);

-- The first items of each, in order.
create table if not exists alerting.collected_item (
  alert_id uuid not null,
  cadence text not null,
  key text not null,
  place integer not null,
  item jsonb not null,
  primary key (alert_id, cadence, key, place)
);

-- Scans after which the signals of a day are looked at, once the read model shows them.
create table if not exists alerting.signal_look (
  position bigint primary key,
  brand_id uuid not null,
  date text not null,
  at text not null,
  alert_ids text[] not null
);

-- Signals that rules were told of: several scans of a day show the same ones.
create table if not exists alerting.told_signal (
  alert_id uuid not null,
  signal_id uuid not null,
  primary key (alert_id, signal_id)
);
