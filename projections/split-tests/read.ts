import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { TOOL_MEMBERS_SQL } from '../sql/json.ts';

const CENSUS = `
  select '{"tool":{"id":"' || t.tool_id || '",' || ${TOOL_MEMBERS_SQL} || '},"is_read":' || t.is_read
    || ',"brands_installed":' || t.installed
    || ',"brands_read":' || case when t.is_read then t.read::text else 'null' end
    || ',"brands_running":' || case when t.is_read then t.running::text else 'null' end || '}' as item
  from split_tests.tool t where t.name is not null
  order by t.installed desc, t.slug collate "C"`;

const NEWEST_SITE_SCAN = `select ${isoTimeSql('max(scanned_at)')} as as_of from split_tests.brand`;

export const readSplitTestCensus = async (
  db: ReadDatabase,
): Promise<{ readonly items: readonly string[]; readonly asOf: string | null }> => {
  const [newest, rows] = await Promise.all([
    db.query<{ as_of: string | null }>({ sql: NEWEST_SITE_SCAN, values: [] }),
    db.query<{ item: string }>({ sql: CENSUS, values: [] }),
  ]);
  return { items: rows.map(({ item }) => item), asOf: newest[0]?.as_of ?? null };
};
