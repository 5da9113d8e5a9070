-- Input of the nightly list: the first scan of each brand, and when its first ad began.
create table brand (
  brand_id uuid primary key,
  country text,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}',
  first_scan_at timestamptz,
  first_ad_started_on date,
  active_ads bigint not null default 0,
  scanned_at timestamptz
);
-- indexes
create index brand_by_first_ad on brand (first_ad_started_on);
create index brand_by_scan on brand (scanned_at);
