import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { ad } from '#tests/dsl/scans.ts';
import { until } from '#tests/stack/wait-until.ts';
import { type IntakeServers, openIntakeServers } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Ads of other brands, which must not cost reads (rules 10 and 11). */

const OTHERS = 3_000;
const READ_MAX = 500;

let servers: IntakeServers;
let database: Database;
beforeAll(async () => {
  servers = await openIntakeServers();
  database = openPool(servers.databaseUrl, 1);
});
afterAll(async () => {
  await database.end();
  await servers[Symbol.asyncDispose]();
});

const at = (day: number): string => `2026-05-0${day}T10:00:00.000Z`;

const submitScan = async (
  intake: Intake,
  domain: string,
  day: number,
  ads: readonly ObservedAd[],
): Promise<void> => {
  const { chunks, end } = scanOf(domain, at(day), ads, { pages: [] });
  for (const message of [...chunks, end]) await intake.submit(message);
};

/** Copies an ad to others: some belong to two other brands each, most to one. */
const copyAsOthers = async (adId: string): Promise<void> => {
  await database.query(
    `with other as (
       select (900000 + n)::text as ad_id, gen_random_uuid() as brand_id, gen_random_uuid() as former_id,
         n <= ${OTHERS} as is_shared
       from generate_series(1, ${10 * OTHERS}) n
     ), owned as (insert into ingest.ad_owner (ad_id, brand_id) select ad_id, brand_id from other)
     insert into ingest.ad (ad_id, brand_id, social_page_id, live, shown_ended, first_seen_at, page_met_at, pair_countries, known)
     select other.ad_id, other.brand_id, other.ad_id, live, shown_ended, first_seen_at, page_met_at, pair_countries,
       known - 'brands' - 'placings' || jsonb_build_object('ad_id', other.ad_id) || case when is_shared then jsonb_build_object(
         'placings', known->'placings', 'brands', jsonb_build_array(other.former_id, other.brand_id)) else '{}' end
     from ingest.ad cross join other where ad.ad_id = $1`,
    [adId],
  );
  await database.query('analyze ingest.ad');
};

/** Index entries of the table of ads that an intake reads. */
const readBy = async (work: (intake: Intake) => Promise<void>): Promise<number> => {
  const read = async (): Promise<number> => {
    // Connections report statistics at their end.
    await until('all other connections end', 10_000, async () => {
      const open = await database.query(
        `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and backend_type = 'client backend'`,
      );
      return open.rows.length === 0;
    });
    const { rows } = await database.query<{ read: number }>(
      `select sum(idx_tup_read)::int as read from pg_stat_user_indexes where schemaname = 'ingest' and relname = 'ad'`,
    );
    return rows[0]?.read ?? 0;
  };
  const before = await read();
  {
    await using intake = await openIntake(servers);
    await work(intake);
  }
  return (await read()) - before;
};

describe('ads that other brands share are not read', () => {
  beforeAll(async () => {
    const moved = ad(1, { page_id: null, link_url: 'https://from.example/a' });
    await readBy(async (intake) => {
      await submitScan(intake, 'to.example', 1, []);
      await submitScan(intake, 'from.example', 1, [moved]);
      await submitScan(intake, 'from.example', 2, [{ ...moved, link_url: 'https://to.example/a' }]);
    });
    const { rows } = await database.query<{ brand_id: string; brands: readonly string[] }>(
      `select brand_id, known->'brands' as brands from ingest.ad where ad_id = $1`,
      [moved.ad_id],
    );
    expect(rows).toEqual([{ brand_id: brandIdOf('to.example'), brands: expect.arrayContaining([]) }]);
    await copyAsOthers(moved.ad_id);
  });

  it('by a late scan', async () => {
    const shown = [ad(2, { page_id: '70001', link_url: 'https://late.example/a' })];
    const read = await readBy(async (intake) => {
      for (const day of [3, 5, 4]) await submitScan(intake, 'late.example', day, shown);
    });
    expect(read).toBeLessThan(READ_MAX);
  });

  it('by a link of an earlier time', async () => {
    const read = await readBy(async (intake) => {
      await submitScan(intake, 'linked.example', 3, [
        ad(3, { page_id: '70002', link_url: 'https://linked.example/a' }),
      ]);
      await intake.submit({
        type: 'social_page.link',
        brand_domain: 'other.example',
        page_id: '70002',
        page_name: null,
        observed_at: at(2),
        role: 'OFFICIAL',
        confidence: 0.9,
        linked: true,
      });
    });
    expect(read).toBeLessThan(READ_MAX);
  });
});
