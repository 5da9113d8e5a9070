import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { schemaOf } from '#application/read-models/schema.ts';

/** Columns with positions of the log. They differ between two logs of the same events, and where a killed append left a gap. */
export const POSITION_COLUMNS: readonly string[] = ['position', 'full_at', 'marked_at', 'stated_at'];

/** Row count and order-independent checksum of each table, without the columns in `without`. */
export const checksums = async (
  database: Database,
  projections: readonly Projection[],
  without: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> => {
  const sums: Record<string, string> = {};
  for (const { name } of projections) {
    const schema = schemaOf(name);
    const tables = await database.query<{ table: string }>(
      `select tablename as "table" from pg_tables where schemaname = $1 order by 1`,
      [schema],
    );
    for (const { table } of tables.rows) {
      const { rows } = await database.query<{ sum: string }>(
        `select count(*) || ':' || coalesce(sum(('x' || substr(md5((to_jsonb(t) - $1::text[])::text), 1, 15))::bit(60)::bigint), 0) as sum
         from "${schema}"."${table}" t`,
        [without],
      );
      sums[`${schema}.${table}`] = rows[0]?.sum ?? '';
    }
  }
  return sums;
};

/** Waits until all projections, or the given ones, have passed the head of the log. */
export const untilPassed = async (
  database: Database,
  head: bigint,
  limitMs = 120_000,
  names: readonly string[] | null = null,
): Promise<void> => {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const { rows } = await database
      .query<{ behind: number; there: number }>(
        `select count(*) filter (where position < $1)::int as behind, count(*)::int as there from projector.projection
         where $2::text[] is null or name = any($2)`,
        [head, names],
      )
      .catch(() => ({ rows: [{ behind: 1, there: 0 }] }));
    if (rows[0]?.behind === 0 && rows[0].there > 0) return;
    if (Date.now() > deadline) throw new Error(`the projections did not pass ${head} within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
