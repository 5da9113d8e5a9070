-- Recorded scans, with the pages and countries that complete ones covered. `out_of_order`: too late to
-- be decided, with totals that do not hold for its own time, or no look at the brand.
create table scan (
  brand_id uuid not null,
  date date not null,
  scan_id text collate "C" not null,
  observed_at timestamptz not null,
  active_ads bigint not null,
  reliable boolean not null,
  out_of_order boolean not null,
  pages text[] not null,
  countries text[] not null,
  primary key (brand_id, date, scan_id)
);

-- Ads with what tells whether two days could both show them. `''`: ads without a page.
create table ad (
  brand_id uuid not null,
  ad_id text not null,
  social_page_id text not null,
  countries text[] not null,
  -- Countries of the scans that showed an ad which names none; empty for others.
  requested_countries text[] not null,
  first_seen_on date not null,
  -- Time of the last stop, or infinity; of the last return, or -infinity.
  ended_at timestamptz not null,
  returned_at timestamptz not null,
  -- Time of the move that brought the ad from another brand, or -infinity.
  moved_at timestamptz not null,
  primary key (brand_id, ad_id)
);

-- Reliable days, each as its last scan stated it.
create table day (
  brand_id uuid not null,
  date date not null,
  active_ads bigint not null,
  observed_at timestamptz not null,
  primary key (brand_id, date)
);

-- The facets of brands that rankings filter by.
create table brand (
  brand_id uuid primary key,
  country text,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}'
);

-- Each brand's latest reliable day, and the last one 7 to 28 days before it, with the ads that both could show.
create table riser (
  brand_id uuid primary key,
  day date not null,
  previous_day date not null,
  active_ads bigint not null,
  previous_active_ads bigint not null,
  growth bigint not null
);
-- indexes
create index riser_by_growth on riser (growth desc, brand_id desc);
create index riser_by_day on riser (day);
create index brand_by_category on brand using gin (category_ids) where is_public;
create index brand_by_country on brand (country) where is_public;
create index day_newest on day (observed_at);
