-- Ads that name a partner besides the page that runs them.
create table ad (
  ad_id text primary key,
  brand_id uuid,
  social_page_id text,
  page_name text,
  partner_id text,
  partner_name text,
  live boolean,
  -- When the ad was first seen with a partner.
  first_seen_at timestamptz,
  -- For an ad that is not live: when it was last seen, or the day it stopped in the library.
  last_seen_at timestamptz,
  -- Log position of the event that last set all columns; older events of the ad change nothing.
  full_at bigint not null default 0
);

-- Current links: neither unlinked nor quarantined.
create table link (
  social_page_id text not null,
  brand_id uuid not null,
  role text,
  primary key (social_page_id, brand_id)
);

-- The last applied scan of each brand; replies take `as_of` from it, and the last 365 days end with its day.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index ad_of_brand on ad (brand_id);
create index ad_of_page on ad (social_page_id);
create index ad_of_partner on ad (partner_id);
create index link_of_brand on link (brand_id);
create index applied_scan_newest on applied_scan (scanned_at);
