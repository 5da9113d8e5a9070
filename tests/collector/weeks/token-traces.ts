import type { Observation } from '#contracts/observations/index.ts';
import { TOKEN, type Weeks } from './played-weeks.ts';

/** Characters of the token that must not be found either: a cut token is a part of a secret. */
const PART = TOKEN.slice(0, 16);

/**
 * Returns where the token of the library API can be read: tables of the collector and of its read models, and
 * observations. Only the sealed token in the vault may hold it.
 */
export const tokenTraces = async (
  { stack }: Weeks,
  observations: readonly Observation[],
): Promise<readonly string[]> => {
  const { rows: tables } = await stack.database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const traces: string[] = [];
  for (const { name } of tables) {
    // Bytes are shown as text where they are text.
    const { rows } = await stack.database.query<{ found: number }>(
      `select count(*)::int as found from ${name} t
       where t::text like '%' || $1 || '%' or t::text like '%' || encode(convert_to($1, 'utf8'), 'hex') || '%'`,
      [PART],
    );
    if ((rows[0]?.found ?? 0) > 0) traces.push(name);
  }
  if (observations.some((one) => JSON.stringify(one).includes(PART))) traces.push('observations');
  return traces;
};
