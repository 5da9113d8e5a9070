-- One row per site: the latest estimates, each with its day or first day of the month, and the facets of the brand of
-- its domain. `brand_id` is derived from the domain, also for an unregistered brand.
create table site (
  brand_id uuid primary key,
  observed_at timestamptz,
  monthly_visits bigint,
  monthly_visits_on date,
  global_ranking bigint,
  global_ranking_on date,
  category_ranking bigint,
  category_ranking_on date,
  provider_category text,
  provider_category_on date,
  top_country text,
  top_country_on date,
  top_country_share float8,
  top_country_share_on date,
  demographics text,
  demographics_on date,
  segments jsonb,
  segments_on date,
  similar_sites jsonb,
  similar_sites_on date,
  is_public boolean not null default false,
  top_id uuid,
  mid_id uuid,
  leaf_id uuid
);

create table point (
  brand_id uuid not null,
  date date not null,
  global_ranking bigint,
  category_ranking bigint,
  monthly_visits bigint,
  primary key (brand_id, date)
);

-- Public brands by the segments of their sites' visitors.
create table audience (
  segment text not null,
  brand_id uuid not null,
  monthly_visits bigint not null,
  primary key (segment, brand_id)
);
-- indexes
create index site_by_country on site (top_country, monthly_visits desc, brand_id desc)
  where is_public and monthly_visits is not null;
create index site_by_top_category on site (top_country, top_id, monthly_visits desc, brand_id desc)
  where is_public and monthly_visits is not null;
create index site_by_mid_category on site (top_country, mid_id, monthly_visits desc, brand_id desc)
  where is_public and monthly_visits is not null;
create index site_by_leaf_category on site (top_country, leaf_id, monthly_visits desc, brand_id desc)
  where is_public and monthly_visits is not null;
create index audience_by_visits on audience (segment, monthly_visits desc, brand_id desc);
create index site_newest on site (observed_at);
