create table counter (name text primary key, total bigint not null default 0);
-- indexes
