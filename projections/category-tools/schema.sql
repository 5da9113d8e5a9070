-- Counts of public brands with a tool, by category of any level.
create table tool (
  slug text primary key,
  tool_id uuid,
  name text,
  category text,
  described_at timestamptz,
  website_url text,
  website_at timestamptz
);

create table installed (
  brand_id uuid not null,
  slug text not null,
  present boolean not null,
  primary key (brand_id, slug)
);

-- The categories of each brand. The `counted_` columns are what it contributes to `adoption` already.
create table brand (
  brand_id uuid primary key,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}',
  counted_ids uuid[] not null default '{}',
  counted_slugs text[] not null default '{}'
);

create table adoption (
  category_id uuid not null,
  slug text not null,
  brands bigint not null,
  primary key (category_id, slug)
);

-- The last scan of each brand's site.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index applied_scan_newest on applied_scan (scanned_at);
create index adoption_by_brands on adoption (category_id, brands desc, slug) where brands > 0;
