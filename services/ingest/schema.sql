-- Private working tables of the ingest process: a local state store for decisions. All tables except the staged_*
-- ones are folded from the log. The schema can be dropped: the next start folds them again. Its comment is the hash of this
-- file; while the two agree, a start runs nothing of it.
create schema if not exists ingest;

-- Chunks of scans. A chunk is acknowledged to the queue once its row is committed. Rows are kept until 30 days after the
-- last chunk of the scan, without the ads when the scan is recorded: a chunk that comes again with other content or for
-- another brand is refused (rule 8).
create table if not exists ingest.staged_chunk (
  scan_id uuid not null,
  chunk int not null,
  staged_at timestamptz not null default now(),
  brand_id uuid not null,
  -- SHA-256 of the ads as they first arrived.
  digest text not null,
  -- Compressed with zstd: a line with the ids of the ads, then two lines for each ad (`staged-ads.ts`).
  ads bytea,
  -- The domains to which destinations of the ads may belong.
  domains text[] not null,
  primary key (scan_id, chunk)
);
alter table ingest.staged_chunk alter ads set storage external;
-- For the deletion of old rows, in this and the next tables.
create index if not exists staged_chunk_by_age on ingest.staged_chunk (staged_at, scan_id);

-- One row per ad of a staged scan: the first chunk that has an entry of the ad (rule 8), and the brand that the ad
-- belongs to. Until the end of the scan attributes its ads, that is the brand of the scan.
create table if not exists ingest.staged_ad (
  scan_id uuid not null,
  ad_id text not null,
  chunk int not null,
  brand_id uuid not null,
  social_page_id text,
  -- Further chunks with entries of the ad, which are merged with that of the first. Null for nearly all ads.
  more_chunks int[],
  -- Digest of what a decision reads of the ad; null when the same content may be decided otherwise later.
  digest text,
  primary key (scan_id, ad_id)
);
create index if not exists staged_ad_by_brand on ingest.staged_ad (scan_id, brand_id, chunk);

-- Catalogue pages of storefront scans that have not ended.
create table if not exists ingest.staged_storefront_page (
  scan_id uuid not null,
  page int not null,
  staged_at timestamptz not null default now(),
  products text not null,
  product_count int not null,
  primary key (scan_id, page)
);
create index if not exists staged_storefront_page_by_age on ingest.staged_storefront_page (staged_at);

-- SHA-256 of each catalogue page as it first arrived. Kept after the scan is recorded, for 30 days: a page that comes
-- again with other content is refused (rule 8).
create table if not exists ingest.staged_storefront_digest (
  scan_id uuid not null,
  page int not null,
  staged_at timestamptz not null default now(),
  domain text not null,
  digest text not null,
  primary key (scan_id, page)
);
create index if not exists staged_storefront_digest_by_age on ingest.staged_storefront_digest (staged_at);

-- One row per shop: the revision of its storefront stream that the tables below reflect, and the product counters.
create table if not exists ingest.storefront (
  domain text primary key,
  revision bigint not null,
  listed int not null,
  missing int not null,
  scanned_at text,
  completed_at text,
  currency text,
  open json not null
);

-- One row per product ever listed. `product`: JSON of the product as last recorded.
create table if not exists ingest.storefront_product (
  domain text not null,
  product_id text not null,
  listed boolean not null,
  missing_since text,
  product text not null,
  primary key (domain, product_id)
);

create table if not exists ingest.recorded_storefront_scan (
  scan_id uuid not null,
  domain text not null,
  primary key (scan_id, domain)
);

create table if not exists ingest.brand (
  brand_id uuid primary key,
  domain text not null,
  -- Time of the first profile, link or other observation that named the brand. A scan that names it sooner is in
  -- `ingest.scan` only.
  registered_at text collate "C"
);
-- The id follows from the domain. A unique domain would refuse one of two writers that store one brand at the same moment:
-- `on conflict` looks at one index only.
create index if not exists brand_by_domain on ingest.brand (domain);

create table if not exists ingest.linked_page (
  brand_id uuid not null,
  social_page_id text not null,
  confidence real not null,
  -- Time of the observation that linked the page.
  linked_at text collate "C" not null,
  primary key (brand_id, social_page_id)
);
create index if not exists linked_page_by_confidence on ingest.linked_page (social_page_id, confidence desc, brand_id);

-- Every observation of a link between a page and a brand. They say which pages a day needs (rule 9).
create table if not exists ingest.page_link (
  social_page_id text not null,
  brand_id uuid not null,
  observed_at text collate "C" not null,
  linked boolean not null,
  -- Null for an observation that ended the link.
  confidence real,
  primary key (social_page_id, brand_id, observed_at)
);
create index if not exists page_link_by_brand on ingest.page_link (brand_id);

-- One row per brand: the revision of its adLibrary stream that the tables below reflect, and the ad counters.
create table if not exists ingest.library (
  brand_id uuid primary key,
  revision bigint not null,
  live int not null,
  missing int not null,
  total int not null,
  open jsonb
);

-- The ads of each brand. While the streams are folded one after the other, an ad that moved may have two rows.
create table if not exists ingest.ad (
  ad_id text not null,
  brand_id uuid not null,
  social_page_id text,
  live boolean not null,
  -- True when the last scan that covered the ad showed it as ended.
  shown_ended boolean not null,
  first_seen_at text collate "C" not null,
  known jsonb not null,
  -- Host of the ad's destination with its labels in reverse order, each with a dot: `com.shop.`. Null without one.
  destination text collate "C",
  -- Domains to which the ad led before. Null for most ads.
  former_domains text[],
  -- Time of the first scan that showed the ad with its page.
  page_met_at text collate "C" not null,
  -- Countries of the scans that showed the ad.
  pair_countries text[] not null,
  -- Digest of the ad, and key of the coverage, of the last scan that showed the ad, if no event has changed it since.
  shown text,
  primary key (ad_id, brand_id)
);
-- GIN indexes here have no list of pending entries: each search would read all of it, so that the planner chooses other indexes.
create index if not exists ad_by_former_domain on ingest.ad using gin (former_domains)
  with (fastupdate = off) where former_domains is not null;
create index if not exists ad_by_destination on ingest.ad (destination, brand_id) where destination is not null;
create index if not exists ad_by_page on ingest.ad (social_page_id, brand_id, first_seen_at);
create index if not exists ad_by_brand on ingest.ad (brand_id, ad_id) include (social_page_id);
create index if not exists ad_live_by_page on ingest.ad (brand_id, social_page_id) where live;
create index if not exists ad_shown_ended on ingest.ad (brand_id, social_page_id) where shown_ended;
-- The few ads that belong to several brands in the course of time, by brand and by page.
-- Searches for a brand do not state the condition of the other two indexes, which hold such ads of all brands.
create index if not exists ad_by_each_brand on ingest.ad using gin ((known->'brands'))
  with (fastupdate = off) where known->'brands' is not null;
create index if not exists ad_of_several_brands_by_page on ingest.ad (social_page_id) where known ? 'brands';
-- By the time since which each belongs to its brand. Nearly no scan precedes one of them.
create index if not exists ad_by_last_change_of_brand on ingest.ad
  (((known->'placings'->-1->>'observed_at') collate "C")) where known ? 'brands';

-- Owner of each ad: the brand whose stream holds the ad's events. The row is inserted before the first event is
-- appended. An ad in concurrent scans of two brands therefore starts in one stream only.
create table if not exists ingest.ad_owner (
  ad_id text primary key,
  brand_id uuid not null,
  -- Time and cause of the move that gave the ad to this brand; empty for an ad that has not moved.
  since text collate "C" not null default ''
);

-- Moves of ads between brands (rule 10). The former brand's stream records a move first. `moved`: the event, until the
-- present brand's stream has it too. One small row per move stays.
create table if not exists ingest.ad_move (
  ad_id text not null,
  scan_id uuid not null,
  to_brand_id uuid not null,
  from_brand_id uuid not null,
  observed_at text collate "C" not null,
  -- Status of the ad when it moved.
  status text not null,
  has_left boolean not null,
  has_arrived boolean not null,
  moved jsonb,
  primary key (ad_id, scan_id, to_brand_id)
);
create index if not exists ad_move_by_cause on ingest.ad_move (scan_id, from_brand_id);
create index if not exists ad_move_from on ingest.ad_move (from_brand_id, observed_at);
create index if not exists ad_move_to on ingest.ad_move (to_brand_id, observed_at);
create index if not exists ad_move_open on ingest.ad_move (scan_id, to_brand_id) where has_left and not has_arrived;

create table if not exists ingest.page (
  brand_id uuid not null,
  social_page_id text not null,
  known jsonb not null,
  first_scan_at text not null,
  last_scan_at text not null,
  last_complete_at text,
  -- Time of the complete scan before the last complete scan.
  complete_before text,
  primary key (social_page_id, brand_id)
);
create index if not exists page_by_brand on ingest.page (brand_id);

-- Every recorded scan with its coverage, and the pages that it named.
create table if not exists ingest.scan (
  scan_id uuid primary key,
  scanned_for uuid not null,
  observed_at text collate "C" not null,
  complete boolean not null,
  countries text[] not null,
  collector text not null,
  -- True when the scan showed an ad without a page.
  unnamed boolean not null
);
create index if not exists scan_by_brand on ingest.scan (scanned_for, observed_at);

create table if not exists ingest.scan_page (
  social_page_id text not null,
  scan_id uuid not null,
  primary key (social_page_id, scan_id)
);
create index if not exists scan_page_by_scan on ingest.scan_page (scan_id);

-- A scan as recorded in the stream of one brand.
create table if not exists ingest.recorded_scan (
  scan_id uuid not null,
  brand_id uuid not null,
  partial_pages text[] not null,
  -- Differences of the collector that repeated on most ads (rule 6).
  differences text[] not null,
  totals jsonb not null,
  reliable boolean not null,
  -- False for a scan that was too late to be decided (rule 11): its totals do not hold for its own time.
  chronological boolean not null,
  collector text not null,
  -- The cause of the last correction of the totals, or the late observation that recorded the scan.
  corrected_by uuid,
  -- All causes that recorded or corrected the totals, of which the newest 100 stay: a cause that is decided again after an
  -- interruption must not count twice. Null while the totals are as recorded.
  causes uuid[],
  -- True when a correction found that the scan had not looked at the brand.
  no_look boolean not null default false,
  primary key (scan_id, brand_id)
);
create index if not exists recorded_scan_by_collector on ingest.recorded_scan (brand_id, collector);

-- Links and registrations that arrived after scans of later times, and whose ads are not decided again yet. A row is
-- committed before the event is appended. `registered_before`: the time of the brand's registration until then.
create table if not exists ingest.late_cause (
  cause_id uuid primary key,
  registered_before text collate "C",
  noted_at timestamptz not null default now()
);

-- Revision of a social page's stream up to which its links are in the tables above.
create table if not exists ingest.folded_page (
  stream text primary key,
  revision bigint not null
);

-- Streams whose last events may not be in the tables yet. A row is committed before the events are appended and deleted
-- after the tables were written. What an interruption leaves is folded before the next decision.
create table if not exists ingest.pending_fold (
  stream text not null,
  -- Id of the command or scan that appends.
  command_id uuid not null,
  marked_at timestamptz not null default now(),
  primary key (stream, command_id)
);

-- Streams with an event that no release here could read yet. A release that reads it folds them when it starts.
create table if not exists ingest.waiting_stream (
  stream text primary key,
  -- The first event that waits.
  type text not null,
  version int not null
);

-- Checkpoint: position up to which the log is folded. It follows the log while a process runs, so that a start reads
-- only what was appended since.
create table if not exists ingest.folded_to (
  one boolean primary key default true check (one),
  position bigint not null
);

-- The list of shared hosts by which the brands of all ads were decided (rule 10). Without a row, or by another list, the next
-- start decides them again.
create table if not exists ingest.shared_hosts (
  one boolean primary key default true check (one),
  version text not null
);
