-- Reliable days, from which growth is computed, and the facets of brands that rankings filter by.
create table day (
  brand_id uuid not null,
  date date not null,
  active_ads bigint not null,
  observed_at timestamptz not null,
  primary key (brand_id, date)
);

create table brand (
  brand_id uuid primary key,
  country text,
  is_public boolean not null default false,
  category_ids uuid[] not null default '{}'
);

-- Each brand's latest reliable day, and the last one 7 to 28 days before it.
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
