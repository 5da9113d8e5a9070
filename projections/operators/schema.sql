-- Companies. Lists show those observed with several domains or several pages.
create table operator (
  operator_id uuid primary key,
  name text,
  country text,
  observed_at timestamptz,
  domains bigint not null default 0,
  pages bigint not null default 0,
  -- Public brands among its domains, each once. Stored, because the largest companies have hundreds.
  public_brands bigint not null default 0
);

-- Associations by basis: a domain, with its brand, or a page.
create table association (
  operator_id uuid not null,
  kind text not null,
  key text not null,
  basis text not null,
  brand_id uuid,
  primary key (operator_id, kind, key, basis)
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  country text,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}'
);
-- indexes
create index operator_biggest on operator ((domains + pages) desc, operator_id desc) where domains > 1 or pages > 1;
create index association_of_brand on association (brand_id);
create index operator_newest on operator (observed_at);
