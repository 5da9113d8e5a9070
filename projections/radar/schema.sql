-- Observed changes that are news. Id, brand and mark are added to the JSON texts when read.
create table item (
  id uuid primary key,
  brand_id uuid not null,
  observed_at timestamptz not null,
  type text not null,
  -- The occurrence as the last event states it: fields of a JSON object, without its braces.
  occurrence text not null,
  -- The ad as it was when the item was reported: a JSON object.
  ad text not null,
  ad_id text,
  scan_id text,
  -- Log positions of the event that reported the item, and of the one that `occurrence` is from; 0 for an event of an older
  -- release that does not state the destination.
  position bigint not null default 0,
  stated_at bigint not null default 0,
  -- Marks of corrections: a late scan adds the item, or shows that it was not so.
  is_added boolean not null default false,
  is_withdrawn boolean not null default false,
  -- Brand and occurrence as they were reported; `reported` is null while the occurrence is the same.
  reported_brand_id uuid,
  reported text,
  unique (ad_id, type, scan_id)
);

-- Items that corrections withdrew or added, and the brand that they state for the items of an ad that moved. A mark may
-- come before its item, because the brand of an ad, and with it the stream of its events, may change.
create table mark (
  ad_id text not null,
  type text not null,
  scan_id text not null,
  brand_id uuid,
  position bigint not null,
  is_withdrawn boolean not null,
  primary key (ad_id, type, scan_id)
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index item_newest on item (brand_id, observed_at desc, id desc) include (type);
create index item_newest_of_all on item (observed_at desc, id desc) include (brand_id, type);
create index applied_scan_newest on applied_scan (scanned_at);
