-- Ads that came to a brand (positive) or left it (negative) at a time.
create table brand_move (
  brand_id uuid not null,
  at timestamptz not null,
  active_ads bigint not null,
  total_ads bigint not null,
  primary key (brand_id, at)
);

-- Totals as stated by each brand's newest scan, and with the ads that changed their brand since.
create table brand_totals (
  brand_id uuid primary key,
  scanned_at timestamptz,
  scan_id text collate "C",
  stated_active_ads bigint not null,
  stated_total_ads bigint not null,
  -- Revision of the event that stated the totals of the newest scan.
  stated_revision bigint,
  -- Numbers of ads as an event out of order states them, and the revision of that event.
  active_now bigint,
  total_now bigint,
  counted_revision bigint,
  active_ads bigint not null,
  total_ads bigint not null,
  -- Time of the newest scan that looked at the brand.
  looked_at timestamptz
);

-- When each ad began: by the library, else the day on which it was first seen.
create table ad (
  brand_id uuid not null,
  ad_id text not null,
  started_on date not null,
  primary key (brand_id, ad_id)
);

-- Input of the nightly list: the first scan of each brand, and when its first ad began.
create table brand (
  brand_id uuid primary key,
  country text,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}',
  first_scan_at timestamptz,
  first_ad_started_on date,
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  scanned_at timestamptz
);

-- Scans that looked at a brand.
create table scan (
  brand_id uuid not null,
  date date not null,
  scan_id text collate "C" not null,
  observed_at timestamptz not null,
  primary key (brand_id, date, scan_id)
);
-- indexes
create index brand_by_first_ad on brand (first_ad_started_on);
create index brand_by_scan on brand (scanned_at);
