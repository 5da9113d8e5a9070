-- Working tables of the collector. They hold what is due and what is being read; facts are in the log only. They can be
-- dropped while the collector is stopped: scans that were being read start again.
create schema if not exists collecting;

-- Targets by source and brand domain, each with its lease. A target with `lease_until` in the future is being read.
create table if not exists collecting.target (
  source text not null,
  domain text not null,
  cadence text not null,
  -- Time of the last wish. A target with an old wish is read rarely.
  wished_at timestamptz not null,
  due_at timestamptz not null,
  -- Not before this time, after a failure.
  retry_at timestamptz,
  -- Why it is not read any more; null while it is.
  paused text,
  scanned_at timestamptz,
  -- The batch published last. Its pages answer conditional requests.
  last_batch_id uuid,
  -- Result of the last attempt.
  outcome text,
  detail text,
  tried_at timestamptz,
  lease_owner text,
  lease_until timestamptz,
  -- Start of the last complete scan at the library API.
  complete_at timestamptz,
  -- Start of the first scan, or of the last complete one that read ended ads too. Ads may have ended since then.
  stops_since timestamptz,
  -- Time of the last look at the brand between two scans.
  looked_at timestamptz,
  primary key (source, domain)
);
create index if not exists target_due on collecting.target (source, due_at);

-- A scan that is being read: where it goes on.
create table if not exists collecting.batch (
  batch_id uuid primary key,
  source text not null,
  domain text not null,
  started_at timestamptz not null,
  -- Failures in a row.
  failures int not null default 0,
  cursor jsonb not null default '{}',
  unique (source, domain)
);

-- Pages of a batch as they were read, compressed with gzip.
create table if not exists collecting.spool (
  batch_id uuid not null,
  page int not null,
  body bytea not null,
  etag text,
  last_modified text,
  primary key (batch_id, page)
);

-- Memory of hosts: robots.txt, pace and rest.
create table if not exists collecting.host (
  host text primary key,
  next_at timestamptz,
  robots jsonb,
  rest jsonb
);

-- Results of reading targets, for 30 days.
create table if not exists collecting.attempt (
  attempt_id bigint generated always as identity primary key,
  at timestamptz not null,
  source text not null,
  domain text not null,
  outcome text not null,
  detail text
);
create index if not exists attempt_at on collecting.attempt (at);
create index if not exists attempt_target on collecting.attempt (source, domain, at);

-- Accounts of the library API, each another app. Token and secret of the app are in the vault; this table has only their
-- fingerprints. One process at a time makes the calls of the accounts.
create table if not exists collecting.account (
  name text primary key,
  token_fingerprint text not null,
  set_at timestamptz not null,
  -- At the latest, 60 days after it was set.
  expires_at timestamptz not null,
  -- `open`, `shut` until a time, or `off` with its reason.
  access jsonb not null,
  -- Usage in percent that the platform reported last.
  percent double precision,
  used_at timestamptz,
  -- The list of countries that was asked for last. It may only grow.
  countries text[] not null default '{}',
  -- The app of the account, and the fingerprint of its secret; null for those of the settings.
  app_id text unique,
  secret_fingerprint text,
  -- No looks before this time, because an answer was not newest first.
  looks_off_until timestamptz
);

-- Batches of social pages that are being read at the library API. Their answers are in `collecting.spool`.
create table if not exists collecting.archive_batch (
  batch_id uuid primary key,
  -- The process that reads it. A commit of an earlier one fails.
  owner text not null,
  -- Domain and page ids of each brand.
  brands jsonb not null,
  countries text[] not null,
  -- Active ads of each page in its last complete scan.
  ads_before jsonb not null,
  -- Time since which ads may have ended; null before the first scan.
  last_complete_at timestamptz,
  started_at timestamptz not null,
  retry_at timestamptz,
  -- Failures in a row.
  failures int not null default 0,
  cursor jsonb not null default '{}',
  -- The account that began to read it, and goes on: a cursor of one account is not given to another.
  account text not null default 'default',
  -- `scan`, or `look`: the first answer alone.
  kind text not null default 'scan'
);

-- Active ads of each social page in its last complete scan at the library API.
create table if not exists collecting.archive_page (
  social_page_id text primary key,
  ads int not null,
  scanned_at timestamptz not null,
  -- Ids of the newest of them, at most 1,000. A look ends at the first of these.
  newest text[] not null default '{}',
  -- Why the library refused the page by its id, when, and for which domains; null while it is asked for.
  paused text,
  paused_at timestamptz,
  paused_of text[] not null default '{}'
);

-- Company that each site names as its operator, by its imprint or JSON-LD.
create table if not exists collecting.imprint (
  domain text primary key,
  company text not null,
  -- Lower case, with single spaces.
  company_key text not null,
  observed_at timestamptz not null,
  -- Company that the site named before.
  left_company text
);
create index if not exists imprint_company on collecting.imprint (company_key);

-- The last record of each company: the sites that it named, and its time. Its lock orders the records of a company.
create table if not exists collecting.imprint_record (
  company_key text primary key,
  domains text[] not null default '{}',
  recorded_at timestamptz
);

-- Landing pages of ads: when each may be requested again, and the version that it had.
create table if not exists collecting.landing_page (
  page_url text primary key,
  next_at timestamptz not null,
  etag text,
  last_modified text
);

-- Social pages that a search proposed for a brand.
create table if not exists collecting.page_proposal (
  domain text not null,
  social_page_id text not null,
  page_name text,
  -- Ads whose caption has the domain.
  ads int not null,
  -- `linked`, or `quarantined` until an operator links it.
  state text not null,
  proposed_at timestamptz not null,
  primary key (domain, social_page_id)
);
