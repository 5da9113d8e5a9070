-- Every recorded scan of a shop; the weeks and the latest scan are read from it.
create table scan (
  brand_id uuid not null,
  scan_id uuid not null,
  observed_at timestamptz not null,
  late_arrival boolean not null,
  complete boolean not null,
  seen bigint not null,
  products bigint not null,
  missing bigint not null,
  listed bigint not null,
  returned bigint not null,
  delisted bigint not null,
  changed bigint not null,
  cheaper bigint not null,
  dearer bigint not null,
  mixed bigint not null,
  -- JSON of the scan as the API shows it.
  item text not null,
  primary key (brand_id, scan_id)
);

-- One row per product ever seen in the catalogue. Times are ISO text, as shown.
create table product (
  brand_id uuid not null,
  product_id text not null,
  -- The id as a number: shops number their products upwards, so the newest have the highest.
  number numeric not null,
  listed boolean not null,
  domain text not null,
  handle text not null,
  title text not null,
  product_type text,
  vendor text,
  published_at text,
  image_url text,
  variant_ids text[] not null,
  first_seen_at text not null,
  changed_at text,
  missing_since text,
  -- The JSON item that the API passes through; null unless the product is listed.
  item text,
  primary key (brand_id, product_id)
);

create table variant (
  brand_id uuid not null,
  product_id text not null,
  variant_id text not null,
  title text,
  sku text,
  price text,
  compare_at_price text,
  available boolean,
  primary key (brand_id, product_id, variant_id)
);

-- Changes, as the API shows them.
create table change (
  brand_id uuid not null,
  observed_at timestamptz not null,
  product_id text not null,
  type text not null,
  item text not null,
  primary key (brand_id, observed_at, product_id, type)
);
-- indexes
create index scan_of_brand on scan (brand_id, observed_at desc);
create index product_of_catalogue on product (brand_id, number desc) where listed;
create index scan_newest on scan (observed_at);
