-- Working tables of the media archive: what is wanted, what is stored, and how much room it takes. Facts are in the log
-- only. While the archive is stopped the schema can be dropped; files stay in the object store, and scans want them again.
create schema if not exists media;

-- Files that ads show, by their address without its signature.
create table if not exists media.wanted (
  file_key text primary key,
  kind text not null,
  -- The newest address, its end, and the time after which it is not tried any more.
  url text not null,
  poster_url text,
  expires_at timestamptz not null,
  try_until timestamptz not null,
  -- The last scan that showed the file.
  seen_at timestamptz not null,
  -- `wanted`, `stored`, `missed` (a newer address is tried again) or `refused` (the file is not one that is stored).
  state text not null default 'wanted',
  reason text,
  attempts int not null default 0,
  retry_at timestamptz,
  lease_owner text,
  lease_until timestamptz,
  -- The observation of a stored file without its ads, and the objects of the file.
  file jsonb,
  object_keys text[] not null default '{}',
  fetched_at timestamptz,
  -- Whether an ad of the file is not published yet.
  unsent boolean not null default true,
  -- Whether a running ad showed the file when a scan last wanted it. Its users look at running ads first.
  running boolean not null default false
);
create index if not exists wanted_first on media.wanted (expires_at, file_key) where state = 'wanted';
create index if not exists wanted_running on media.wanted (expires_at, file_key) where state = 'wanted' and running;
create index if not exists wanted_unsent on media.wanted (file_key) where unsent and state = 'stored';
create index if not exists wanted_by_age on media.wanted (seen_at);
create index if not exists wanted_by_object on media.wanted using gin (object_keys) where state = 'stored';

-- Ads that show a file. They add up.
create table if not exists media.wanted_ad (
  file_key text not null references media.wanted on delete cascade,
  ad_id text not null,
  seen_at timestamptz not null,
  sent boolean not null default false,
  primary key (file_key, ad_id)
);
create index if not exists wanted_ad_unsent on media.wanted_ad (file_key, ad_id) where not sent;

-- Objects of the archive, and the sum of their bytes. An object is entered before it is written.
create table if not exists media.object (
  object_key text primary key,
  bytes bigint not null
);
create table if not exists media.usage (
  id boolean primary key default true check (id),
  bytes bigint not null default 0,
  -- Setting of the archive that ran last; null before the first.
  quota_bytes bigint,
  mode text
);
insert into media.usage default values on conflict do nothing;
