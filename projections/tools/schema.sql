-- One row per tool, as the newest scan that found it describes it. `brands`: public brands that have it.
create table tool (
  slug text primary key,
  tool_id uuid,
  name text,
  category text,
  described_at timestamptz,
  website_url text,
  website_at timestamptz,
  brands bigint not null default 0
);

-- Tools of a site. The last three columns are copies of the brand's: a tool's list of brands is sorted by
-- them.
create table installed (
  brand_id uuid not null,
  slug text not null,
  present boolean not null,
  detected_at text not null,
  missing_since text,
  listed boolean not null default false,
  monthly_visits bigint not null default -1,
  top_country text,
  primary key (brand_id, slug)
);

-- The facets of a brand that counts depend on. The `counted_` columns are what it contributes already.
create table brand (
  brand_id uuid primary key,
  is_public boolean not null default false,
  category_id uuid,
  scanned_at timestamptz,
  observed_at timestamptz,
  monthly_visits bigint,
  monthly_visits_on date,
  top_country text,
  top_country_on date,
  counted_tools text[] not null default '{}',
  counted_category_id uuid,
  counted_band int
);

-- One row per top-level category. `brands` counts its public brands whose sites were scanned.
create table category (
  category_id uuid primary key,
  slug text,
  -- From the naming of precedence: a definition, else the first brand profile.
  name text,
  named_rank int,
  named_at timestamptz,
  named_by uuid,
  -- Name from the category's own definition, as last changed.
  defined_name text,
  brands bigint not null default 0
);

-- Counts of public brands that have a tool: by category, by band of monthly visits (-1: no estimate), and
-- together with another tool. Each pair is stored once, with the slug that sorts first in `slug`.
create table adoption (
  slug text not null,
  category_id uuid not null,
  brands bigint not null,
  primary key (slug, category_id)
);
create table band (
  slug text not null,
  band int not null,
  brands bigint not null,
  primary key (slug, band)
);
create table pair (
  slug text not null,
  other_slug text not null,
  brands bigint not null,
  primary key (slug, other_slug)
);
-- indexes
create unique index tool_by_id on tool (tool_id);
create index tool_by_adoption on tool (brands desc, slug desc) where brands > 0;
create index brand_newest on brand (scanned_at);
create index pair_of_other on pair (other_slug);
create index installed_by_visits on installed (slug, monthly_visits desc, brand_id desc) where listed;
create index installed_by_country on installed (slug, top_country, monthly_visits desc, brand_id desc) where listed;
