-- State store of `alerts`, committed in one transaction with its checkpoint. Everything in it is derived from the
-- log, so the schema can be dropped at any time: a replay finds earlier deliveries in the log by their ids. The
-- schema named `alerts` is something else: the read model of alert rules.
create schema if not exists alerting;

-- Checkpoint: commit position of $all up to which events are matched, and the newest recording time so far. Events
-- up to `replayed_until` (the end of the log when this table was created) may have been matched before, so
-- deliveries found in the log are not queued again.
create table if not exists alerting.checkpoint (
  single_row boolean primary key default true check (single_row),
  position bigint not null,
  log_time text not null,
  replayed_until bigint not null,
  -- The event after `position`, when it is matched with the rules of its brand up to this id and not yet with the
  -- others. Null between events.
  partial_position bigint,
  partial_alert_id uuid
);

-- Brands that a workspace tracked and has since untracked. Its rules do not fire on them.
create table if not exists alerting.untracked (
  workspace_id text not null,
  brand_id uuid not null,
  primary key (workspace_id, brand_id)
);

-- Alert rules at the checkpoint.
create table if not exists alerting.rule (
  alert_id uuid primary key,
  rule jsonb not null
);

-- Names of brands, and the time of each brand's newest complete scan.
create table if not exists alerting.brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  last_complete_at text
);

-- Social pages by brand. Used to alert only on the first link and the first partner ad of a page.
create table if not exists alerting.page (
  brand_id uuid not null,
  social_page_id text not null,
  role text,
  ran_ads boolean not null,
  was_new_partner boolean not null,
  primary key (brand_id, social_page_id)
);

-- Pending items of a rule, until a scan, a day or a week ends. `key` is the brand id (scan) or the first day
-- (period).
create table if not exists alerting.collected (
  alert_id uuid not null,
  cadence text not null,
  key text not null,
  items_total integer not null,
  as_of text not null,
  primary key (alert_id, cadence, key)
);

-- The first items of each entry, in order; the payload limit bounds how many have an `item`. `source` names the
-- occurrence of an ad that a correction may withdraw.
create table if not exists alerting.collected_item (
  alert_id uuid not null,
  cadence text not null,
  key text not null,
  place integer not null,
  item jsonb,
  source text,
  primary key (alert_id, cadence, key, place)
);

-- Messages of rules with a daily maximum that are due on a UTC day. `is_over`: further ones wait for the digest of the day.
create table if not exists alerting.day_count (
  alert_id uuid not null,
  day text not null,
  messages integer not null,
  is_over boolean not null,
  primary key (alert_id, day)
);

-- Pending signal checks: scans after which the signals of a day are read, once the read model has passed them. Each row
-- has some of the rules to notify. Rules are removed once they are notified, and the row with the last of them.
create table if not exists alerting.signal_look (
  position bigint not null,
  page integer not null default 0,
  brand_id uuid not null,
  date text not null,
  at text not null,
  alert_ids text[] not null,
  -- Attempts that failed since the last one that did not, and the earliest time of the next one.
  failures integer not null default 0,
  next_try_at timestamptz not null default '-infinity',
  primary key (position, page)
);

-- Signals of which a rule was notified. Several scans of one day show the same signals.
create table if not exists alerting.told_signal (
  alert_id uuid not null,
  signal_id uuid not null,
  primary key (alert_id, signal_id)
);

-- Events of streams that wait for a release: for each stream the first event, which the release then could not
-- read, and the later ones behind it. `version` is the schema version as text, because a newer writer decides on its form.
create table if not exists alerting.waiting_event (
  stream text not null,
  revision bigint not null,
  position bigint not null,
  type text not null,
  version text not null,
  since timestamptz not null default now(),
  primary key (stream, revision)
);

-- Occurrences that corrections withdrew: digests of open periods leave their items out.
create table if not exists alerting.withdrawn (
  source text primary key,
  at text not null
);

-- Brands of each rule, so that a batch reads only the rules of its own brands.
create table if not exists alerting.rule_brand (
  brand_id uuid not null,
  alert_id uuid not null,
  primary key (brand_id, alert_id)
);
create index if not exists rule_brand_of_alert on alerting.rule_brand (alert_id);
create index if not exists untracked_brand on alerting.untracked (brand_id);

-- Digests whose period has ended are read in this order.
create index if not exists collected_due on alerting.collected (cadence, key, alert_id);
