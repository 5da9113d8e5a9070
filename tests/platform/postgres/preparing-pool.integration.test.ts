import { expect, test } from 'vitest';
import { inTransaction, openPreparingPool } from '#platform/postgres/pool.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

/** Executions after which PostgreSQL keeps the plan of a named statement. */
const EXECUTIONS = 6;
const SCANS = 20_000;
const NEWEST = `
  select max(s.observed_at) as newest from recorded r join scan s using (scan_id)
  where r.brand_id = $1 and s.observed_at >= $2`;

test('statements are prepared once, and plans made on small tables do not scan large ones', async () => {
  const own = await createTestDatabase();
  const pool = openPreparingPool(own.url, 1);
  try {
    await pool.query(`
      create table scan (scan_id bigint primary key, observed_at bigint not null) with (autovacuum_enabled = false);
      create table recorded (scan_id bigint, brand_id bigint, primary key (scan_id, brand_id))
        with (autovacuum_enabled = false);
      create index on recorded (brand_id);
      insert into scan select n, n from generate_series(1, 5) n;
      insert into recorded select n, n from generate_series(1, 5) n;
      analyze scan, recorded`);
    for (let time = 0; time < EXECUTIONS; time += 1) await pool.query(NEWEST, [3, 1]);
    await pool.query('insert into scan select n, n from generate_series(6, $1::int) n', [SCANS]);
    await pool.query('insert into recorded select n, n % 1000 from generate_series(6, $1::int) n', [SCANS]);

    const { rows } = await inTransaction(pool, (client) => client.query(NEWEST, [3, 1]));
    expect(rows).toEqual([{ newest: '19003' }]);
    const prepared = await pool.query<{ name: string; kept: number }>(
      `select name, generic_plans::int as kept from pg_prepared_statements where statement like '%max(s.observed_at)%'`,
    );
    expect(prepared.rows).toEqual([{ name: expect.any(String), kept: expect.any(Number) }]);
    expect(prepared.rows[0]?.kept).toBeGreaterThan(0);
    const plan = await pool.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off, summary off) execute "${prepared.rows[0]?.name}"('3', '1')`,
    );
    const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toMatch(/Nested Loop/);
    expect(text).not.toMatch(/Seq Scan|Hash Join|Merge Join/);
  } finally {
    await pool.end();
    await own.drop();
  }
});
