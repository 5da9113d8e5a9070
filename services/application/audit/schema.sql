create schema if not exists log_digest;

-- The chain of each stream up to the last digest.
create table if not exists log_digest.stream (
  stream text collate "C" primary key,
  bucket smallint not null,
  revision bigint not null,
  head text not null
);
create index if not exists stream_by_bucket on log_digest.stream (bucket, stream);

-- Roots of the buckets that have a stream.
create table if not exists log_digest.bucket (
  bucket smallint primary key,
  root text not null
);

-- Copies of the digests in the log. `position`: last event of the log that one covers.
create table if not exists log_digest.digest (
  sequence int primary key,
  position bigint not null,
  digest text not null
);
