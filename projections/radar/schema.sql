-- Observed changes that are news. `doc` is the item without its brand, which is joined when read.
create table item (
  id uuid primary key,
  brand_id uuid not null,
  observed_at timestamptz not null,
  type text not null,
  doc text not null
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
