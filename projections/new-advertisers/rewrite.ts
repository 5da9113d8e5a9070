import { inWindowSql } from '#contracts/values/windows.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';

const NEW_ADVERTISER_DAYS_MAX = 90;

/** The caller's connection, on which all statements run in one transaction. */
export type Connection = { query(sql: string): Promise<unknown> };

/**
 * Builds the list in a second table and renames it, so that readers see the old or the new list. Omits brands whose
 * first ad is older than the longest window.
 */
export const rewriteNewAdvertisers = async (connection: Connection): Promise<void> => {
  await connection.query(`
    select pg_advisory_xact_lock(${ADVISORY_LOCKS.newAdvertisersRewrite});
    create schema if not exists nightly;
    create table if not exists nightly.rewrite (name text primary key, as_of timestamptz, rewritten_at timestamptz not null);
    drop table if exists nightly.new_advertiser_next;
    create table nightly.new_advertiser_next as
      select brand_id, country, category_ids, first_scan_at, first_ad_started_on, active_ads
      from new_advertisers.brand, (select max(scanned_at) as at from new_advertisers.brand) n
      where is_public and first_scan_at is not null and ${inWindowSql('first_ad_started_on', 'n.at', NEW_ADVERTISER_DAYS_MAX)}
      order by active_ads desc, brand_id desc;
    create index on nightly.new_advertiser_next (active_ads desc, brand_id desc);
    analyze nightly.new_advertiser_next;
    drop table if exists nightly.new_advertiser;
    alter table nightly.new_advertiser_next rename to new_advertiser;
    insert into nightly.rewrite as r (name, as_of, rewritten_at)
      select 'new-advertisers', max(scanned_at), now() from new_advertisers.brand
      on conflict (name) do update set as_of = excluded.as_of, rewritten_at = excluded.rewritten_at;
  `);
};
