-- Split-testing tools, as the newest scan describes them. The counts cover public brands.
create table tool (
  slug text primary key,
  tool_id uuid,
  name text,
  category text,
  described_at timestamptz,
  website_url text,
  website_at timestamptz,
  -- True once a scan of any site could read the tool's tests.
  is_read boolean not null default false,
  installed bigint not null default 0,
  read bigint not null default 0,
  running bigint not null default 0
);

create table site_tool (
  brand_id uuid not null,
  slug text not null,
  present boolean not null default false,
  readable boolean,
  read_at text,
  primary key (brand_id, slug)
);

create table test (
  id uuid primary key,
  brand_id uuid not null,
  tool text not null,
  test_id text not null,
  name text,
  type text not null,
  state text not null,
  state_basis text not null,
  arms jsonb,
  -- Pages of the test, each with the id of its landing page, or with the prefix of the URLs it covers.
  pages jsonb,
  first_seen_at text not null,
  changed_at text,
  missing_since text
);

-- The facets of a brand that counts depend on. The `counted_` columns are what it contributes already.
create table brand (
  brand_id uuid primary key,
  is_public boolean not null default false,
  category_id uuid,
  scanned_at timestamptz,
  counted_installed text[] not null default '{}',
  counted_read text[] not null default '{}',
  counted_running text[] not null default '{}',
  counted_category_id uuid,
  -- Its tests by type: [all, running].
  counted_types jsonb not null default '{}'
);

-- Test types per top-level category. `read`: public brands of it on whose sites a tool was read.
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
  read bigint not null default 0
);
create table category_type (
  category_id uuid not null,
  type text not null,
  brands bigint not null,
  tests bigint not null,
  running bigint not null,
  primary key (category_id, type)
);
-- indexes
create index test_of_brand on test (brand_id);
create index brand_newest on brand (scanned_at);
