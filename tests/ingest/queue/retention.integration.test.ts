import { expect, it } from 'vitest';
import { silentLog } from '#platform/logger.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { consumeAsLeader } from '#services/ingest/queue/single-active-consumer.ts';
import { createTestNats } from '#tests/stack/database.ts';
import { openIntakeStack } from '../fixtures/intake-stack.ts';

it('the leader deletes expired rows at intervals, also after a deletion that failed, and keeps the others', async () => {
  await using own = new AsyncDisposableStack();
  const stack = own.use(await openIntakeStack());
  const database = openPool(stack.databaseUrl, 2);
  own.defer(() => database.end());
  const server = await createTestNats();
  own.defer(() => server.stop());
  const nats = own.use(await openNats(server.url, 'test'));
  let deletions = 0;
  const intake = {
    ...stack.intake,
    deleteExpired: async (): Promise<void> => {
      deletions += 1;
      if (deletions === 1) throw new Error('connection lost');
      await stack.intake.deleteExpired();
    },
  };
  const stopping = new AbortController();
  const consuming = consumeAsLeader({
    nats,
    intake,
    log: silentLog(),
    concurrency: 1,
    databaseUrl: stack.databaseUrl,
    signal: stopping.signal,
    retentionIntervalMs: 10,
  });
  own.defer(async () => {
    stopping.abort();
    await consuming;
  });
  await expect.poll(() => deletions, { timeout: 60_000 }).toBeGreaterThan(1);
  await database.query(`
    with age as (select * from (values ('10000000-0000-4000-8000-000000000001'::uuid, now() - interval '31 days'),
      ('10000000-0000-4000-8000-000000000002'::uuid, now() - interval '29 days')) as i(scan_id, staged_at)),
    pages as (insert into ingest.staged_storefront_digest (scan_id, page, domain, digest, staged_at)
      select scan_id, 0, 'shop.example', 'x', staged_at from age)
    insert into ingest.staged_chunk (scan_id, chunk, brand_id, digest, domains, staged_at)
    select scan_id, 0, scan_id, 'x', '{}', staged_at from age`);
  const left = async () => {
    const { rows } = await database.query<{ name: string; scan_id: string }>(`
      select 'chunk' as name, scan_id from ingest.staged_chunk
      union all select 'page', scan_id from ingest.staged_storefront_digest order by 1, 2`);
    return rows.map(({ name, scan_id }) => `${name} ${scan_id.at(-1)}`);
  };
  await expect.poll(left, { timeout: 60_000 }).toEqual(['chunk 2', 'page 2']);
});

it('all chunks and ads of old scans are deleted, however many, and none of a scan with a chunk that is not old', async () => {
  await using stack = await openIntakeStack();
  const database = openPool(stack.databaseUrl, 1);
  try {
    await database.query(`
      with scans as materialized (select gen_random_uuid() as scan_id, n from generate_series(1, 150) n),
      age as (select scan_id, c, now() - make_interval(days => 31 + n % 5) as staged_at
        from scans cross join generate_series(0, 2) c),
      mixed as (select '10000000-0000-4000-8000-000000000003'::uuid as scan_id, c,
        now() - make_interval(days => 40 - 20 * c) as staged_at from generate_series(0, 1) c),
      rows as (select scan_id, c, staged_at from age union all select scan_id, c, staged_at from mixed),
      ads as (insert into ingest.staged_ad (scan_id, ad_id, chunk, brand_id)
        select scan_id, c || '-' || a, c, scan_id from rows cross join generate_series(1, 5) a),
      pages as (insert into ingest.staged_storefront_page (scan_id, page, products, product_count, staged_at)
        select scan_id, c, '[]', 0, staged_at from rows),
      page_digests as (insert into ingest.staged_storefront_digest (scan_id, page, domain, digest, staged_at)
        select scan_id, c, 'shop.example', 'x', staged_at from rows)
      insert into ingest.staged_chunk (scan_id, chunk, brand_id, digest, ads, domains, staged_at)
        select scan_id, c, scan_id, 'x', '', '{}', staged_at from rows`);
    await stack.intake.deleteExpired();
    const count = async (table: string): Promise<number> =>
      (await database.query(`select from ingest.${table}`)).rowCount ?? 0;
    expect(await count('staged_chunk')).toBe(2);
    expect(await count('staged_ad')).toBe(10);
    expect(await count('staged_storefront_page')).toBe(1);
    expect(await count('staged_storefront_digest')).toBe(1);
  } finally {
    await database.end();
  }
});
