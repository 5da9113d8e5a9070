import type { Observation } from '#contracts/observations/index.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Characters of a token that must not be found either: a cut token is a part of a secret. */
const PART_LENGTH = 16;

/** Finds the token in tables, observations and texts. Only the sealed token in the vault may hold it. */
export const tokenTraces = async (
  database: Database,
  token: string,
  {
    observations,
    texts,
  }: { readonly observations: readonly Observation[]; readonly texts: readonly string[] },
): Promise<readonly string[]> => {
  const part = token.slice(0, PART_LENGTH);
  const { rows: tables } = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const traces: string[] = [];
  for (const { name } of tables) {
    // Bytes are shown as text where they are text.
    const { rows } = await database.query<{ found: number }>(
      `select count(*)::int as found from ${name} t
       where t::text like '%' || $1 || '%' or t::text like '%' || encode(convert_to($1, 'utf8'), 'hex') || '%'`,
      [part],
    );
    if ((rows[0]?.found ?? 0) > 0) traces.push(name);
  }
  if (observations.some((one) => JSON.stringify(one).includes(part))) traces.push('observations');
  return [...traces, ...texts.filter((text) => text.includes(part))];
};
