-- Categories, as taxonomies define them and as brand profiles name them, with totals over their public
-- brands.
create table category (
  category_id uuid primary key,
  parent_id uuid,
  level int,
  slug text,
  -- Place and name from the naming of precedence: a definition, else the first brand profile.
  name text,
  named_rank int,
  named_at timestamptz,
  named_by uuid,
  -- Name from the category's own definition, as last changed.
  defined_name text,
  description text,
  defined_at timestamptz,
  sort_name text generated always as (lower(coalesce(defined_name, name))) stored,
  brands bigint not null default 0,
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  brands_with_traffic bigint not null default 0,
  monthly_visits bigint not null default 0
);

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

-- The categories and figures of each brand. The `counted_` columns are what it contributes to the totals
-- already.
create table brand (
  brand_id uuid primary key,
  is_public boolean not null default false,
  top_id uuid,
  mid_id uuid,
  leaf_id uuid,
  profiled_at timestamptz,
  -- Time of the scan, link or storefront that registered the brand before any profile.
  registered_at timestamptz,
  scanned_at timestamptz,
  active_ads bigint not null default 0,
  total_ads bigint not null default 0,
  observed_at timestamptz,
  monthly_visits bigint,
  monthly_visits_on date,
  as_of timestamptz generated always as (coalesce(greatest(profiled_at, scanned_at, observed_at), registered_at)) stored,
  counted_ids uuid[] not null default '{}',
  counted_active_ads bigint not null default 0,
  counted_total_ads bigint not null default 0,
  counted_monthly_visits bigint
);
-- indexes
create index category_by_parent on category (parent_id, sort_name, category_id);
create index category_by_slug on category (slug, sort_name, category_id);
create index brand_by_top on brand (top_id, as_of desc) where is_public;
create index brand_by_mid on brand (mid_id, as_of desc) where is_public;
create index brand_by_leaf on brand (leaf_id, as_of desc) where is_public;
create index brand_newest on brand (as_of) where is_public;
