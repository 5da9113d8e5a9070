-- One row per file: its measurements and what was read of it. Counts are in `file_count`: they change with
-- every ad, and would rewrite the indexes over words and values.
create table file (
  creative_key text primary key,
  media_kind text,
  content_type text,
  bytes bigint,
  width integer,
  height integer,
  duration_seconds float8,
  frame_times_seconds jsonb,
  media_url text,
  object_key text,
  poster_url text,
  perceptual_hash text,
  thumb_object_key text,
  -- Only the key of a media file; null for any other.
  poster_object_key text,
  stored_at timestamptz,
  measured_at timestamptz,
  depth text,
  transcript text,
  language text,
  corrections jsonb,
  shown_texts jsonb,
  read_frame_times_seconds jsonb,
  hook text,
  style text,
  presenter text,
  setting text,
  tone text,
  offer text,
  audio text,
  read_at timestamptz,
  facets text[] generated always as (array_remove(array[
    'media_kind:' || media_kind, 'depth:' || coalesce(depth, 'measured'), 'hook:' || hook, 'style:' || style,
    'presenter:' || presenter, 'setting:' || setting, 'tone:' || tone, 'offer:' || offer, 'audio:' || audio
  ], null)) stored,
  -- The parts that a search covers, where the whole is too long for a word index; else null.
  searched_transcript text,
  searched_corrections jsonb,
  searched_shown_texts jsonb,
  -- Transcript, and its corrections.
  said tsvector generated always as (
    to_tsvector('simple', coalesce(searched_transcript, transcript, ''))
      || to_tsvector('simple', coalesce(searched_corrections, corrections, '[]'))
  ) stored,
  shown tsvector generated always as (
    to_tsvector('simple', coalesce(searched_shown_texts, shown_texts, '[]'))
  ) stored
);
-- With fewer statistics the planner takes a rare word for a common one.
alter table file alter column said set statistics 10000;
alter table file alter column shown set statistics 10000;

-- One row per ad, with the columns that files need. `active` is false once the ad is confirmed inactive. `stored` is
-- true when at least one of its files is archived.
create table ad (
  ad_id text primary key,
  brand_id uuid not null,
  active boolean,
  listed_on date,
  format text,
  cta_type text,
  stored boolean not null default false,
  -- Log position of the event that last set all columns from the library; older events of the ad change nothing.
  full_at bigint not null default 0
);

-- One file carried by one ad. Brand, date and `stored` are refreshed from the ad and the file.
create table carriage (
  creative_key text not null,
  ad_id text not null,
  creative_id uuid not null,
  first_seen_at timestamptz not null,
  brand_id uuid,
  listed_on date,
  stored boolean not null default false,
  primary key (creative_key, ad_id),
  unique (ad_id, creative_key)
);

-- One row per perceptual hash that images have. The bands index it, to find the hashes near another one.
create table picture (
  hash text primary key,
  bits bit(64) not null generated always as (('x' || hash)::bit(64)) stored,
  band_a integer not null generated always as (('x' || substr(hash, 1, 4))::bit(16)::integer) stored,
  band_b integer not null generated always as (('x' || substr(hash, 5, 4))::bit(16)::integer) stored,
  band_c integer not null generated always as (('x' || substr(hash, 9, 4))::bit(16)::integer) stored,
  band_d integer not null generated always as (('x' || substr(hash, 13, 4))::bit(16)::integer) stored
);
-- Needed while rows are written, so a rebuild creates these indexes first.
create index picture_by_band_a on picture (band_a);
create index picture_by_band_b on picture (band_b);
create index picture_by_band_c on picture (band_c);
create index picture_by_band_d on picture (band_d);

-- The near hashes of each hash, at most 100: the nearest ones, then the smallest.
create table near_hash (
  hash text not null,
  other text not null,
  bits smallint not null,
  primary key (hash, other)
);
create index near_hash_of_other on near_hash (other, hash);

-- The hash of each image that has one, as `picture` holds it.
create table hashed_file (
  creative_key text primary key,
  hash text not null
);
create index hashed_file_by_hash on hashed_file (hash, creative_key);

-- Hashes without a list of near hashes yet, and hashes whose files get other counts. Both are empty after each batch.
create table unlisted (
  hash text primary key
);
create table recounted (
  hash text primary key
);

-- Refreshed: ads of the corpus that carry the file, or another one with the same picture. Results found by words and
-- values are sorted with the covering index of the key.
create table file_count (
  creative_key text not null,
  active_ads bigint not null,
  total_ads bigint not null,
  primary key (creative_key) include (active_ads)
);

-- One row per file and brand whose ads carry it, and one under the zero id if one of these brands is public. Refreshed
-- after each batch. The newest live ad is the brand's own; `active_ads` counts the live ads of every brand.
create table file_scope (
  creative_key text not null,
  scope_id uuid not null,
  active_ads bigint not null,
  newest_on date,
  newest_ad_id text,
  has_image boolean not null,
  facets text[] not null,
  primary key (creative_key, scope_id),
  unique (scope_id, creative_key)
);

-- Counts of files in a scope by facet value.
create table coverage (
  scope_id uuid not null,
  facet text not null,
  files bigint not null,
  primary key (scope_id, facet)
);

-- Time of the newest observation of a brand's files. Not kept for the public scope, since brands enter and
-- leave it.
create table scope (
  scope_id uuid primary key,
  seen_at timestamptz not null
);

create table brand (
  brand_id uuid primary key,
  slug text,
  name text,
  logo_url text,
  is_public boolean not null default false
);

-- The last applied scan of each brand; replies take `as_of` from it.
create table applied_scan (
  brand_id uuid primary key,
  scanned_at timestamptz not null
);
-- indexes
create index file_by_facets on file using gin (facets);
create index file_by_words_said on file using gin (said);
create index file_by_words_shown on file using gin (shown);
create index file_by_duration on file (duration_seconds) include (creative_key);
create index file_by_bytes on file (bytes) include (creative_key);
create index file_by_width on file (width) include (creative_key);
create index file_by_height on file (height) include (creative_key);
create index file_by_ads on file_count (active_ads desc, creative_key desc);
create index file_of_brand on file_scope (scope_id, active_ads desc, creative_key desc);
create index file_newest on file_scope (scope_id, newest_on desc, creative_key desc) where has_image;
create index scope_newest on scope (seen_at desc);
create unique index carriage_by_id on carriage (creative_id);
create index carriage_of_brand on carriage (brand_id, listed_on desc, creative_id desc) where stored;
create index ad_of_brand on ad (brand_id, format, cta_type, listed_on) where active;
create index ad_of_library on ad (brand_id, listed_on, ad_id) where active and stored;
create index applied_scan_newest on applied_scan (scanned_at);
