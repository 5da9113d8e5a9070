import type { DifferingKey, TableComparison } from '#contracts/messages/projector.ts';
import type { Transaction } from '#platform/postgres/pool.ts';

const REPORTED_MAX = 10;
const ROWS_AT_ONCE = 2_000;
/** Columns that group the differences, if the table has one of them. */
const GROUP_COLUMNS = ['workspace_id', 'brand_id'] as const;

export type TableShape = {
  readonly table: string;
  /** The primary key, or all columns of a table without one. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
};

export const readShapes = async (client: Transaction, schema: string): Promise<readonly TableShape[]> => {
  const { rows } = await client.query<TableShape>(
    `select c.relname as "table",
       array_agg(a.attname::text order by a.attnum) as columns,
       coalesce((select array_agg(k.attname::text order by o.n)
         from pg_index i cross join unnest(i.indkey) with ordinality o(attnum, n)
         join pg_attribute k on k.attrelid = c.oid and k.attnum = o.attnum
         where i.indrelid = c.oid and i.indisprimary), array_agg(a.attname::text order by a.attnum)) as key
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = $1 and c.relkind in ('r', 'p') group by c.oid, c.relname order by c.relname`,
    [schema],
  );
  return rows;
};

const rowText = ({ columns }: TableShape): string => columns.map((column) => `t."${column}"::text`).join(',');

/** SQL of a hash of one row, with its columns in a fixed order. */
const rowHash = (shape: TableShape): string => `hashtextextended(row(${rowText(shape)})::text, 0)`;

export type Checksum = { readonly rows: number; readonly sum: string };

export const checksumOf = async (
  client: Transaction,
  schema: string,
  shape: TableShape,
): Promise<Checksum> => {
  const { rows } = await client.query<Checksum>(
    `select count(*)::int as rows, coalesce(sum(${rowHash(shape)}::numeric), 0)::text as sum from "${schema}"."${shape.table}" t`,
  );
  return rows[0] ?? { rows: 0, sum: '0' };
};

const groupSums = async (client: Transaction, schema: string, shape: TableShape, column: string) => {
  const { rows } = await client.query<{ group: string; sum: string }>(
    `select coalesce(t."${column}"::text, '') as group, count(*) || ':' || sum(${rowHash(shape)}::numeric) as sum
     from "${schema}"."${shape.table}" t group by 1`,
  );
  return new Map(rows.map(({ group, sum }) => [group, sum]));
};

export type Side = { readonly client: Transaction; readonly schema: string };

const differingGroups = async (
  live: Side,
  replayed: Side,
  shape: TableShape,
): Promise<TableComparison['groups']> => {
  const column = GROUP_COLUMNS.find((one) => shape.columns.includes(one));
  if (column === undefined) return null;
  const [here, there] = await Promise.all([
    groupSums(live.client, live.schema, shape, column),
    groupSums(replayed.client, replayed.schema, shape, column),
  ]);
  const names = new Set([...here.keys(), ...there.keys()]);
  const differing = [...names].filter((name) => here.get(name) !== there.get(name)).toSorted();
  return { column, count: differing.length, first: differing.slice(0, REPORTED_MAX) };
};

type KeyedRow = { readonly k: readonly (string | null)[]; readonly h: string };

const orderedRows = async function* ({ client, schema }: Side, shape: TableShape): AsyncGenerator<KeyedRow> {
  const key = shape.key.map((column) => `t."${column}"::text`).join();
  const order = shape.key.map((column) => `t."${column}"::text collate "C" nulls first`).join();
  await client.query(
    `declare compared no scroll cursor for
     select array[${key}] as k, ${rowHash(shape)}::text as h from "${schema}"."${shape.table}" t order by ${order}`,
  );
  try {
    for (;;) {
      const { rows } = await client.query<KeyedRow>(`fetch ${ROWS_AT_ONCE} from compared`);
      yield* rows;
      if (rows.length < ROWS_AT_ONCE) return;
    }
  } finally {
    await client.query('close compared');
  }
};

const compareKeys = (a: KeyedRow['k'], b: KeyedRow['k']): number => {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null;
    if (left === right) continue;
    if (left === null) return -1;
    if (right === null) return 1;
    const order = Buffer.compare(Buffer.from(left), Buffer.from(right));
    if (order !== 0) return order;
  }
  return 0;
};

const columnsOf = async ({ client, schema }: Side, shape: TableShape, key: KeyedRow['k']) => {
  const where = shape.key
    .map((column, index) => `t."${column}"::text is not distinct from $${index + 1}`)
    .join(' and ');
  const { rows } = await client.query<{ texts: readonly (string | null)[] }>(
    `select array[${rowText(shape)}] as texts from "${schema}"."${shape.table}" t where ${where} limit 1`,
    [...key],
  );
  return rows[0]?.texts ?? [];
};

/** Merges both tables in key order. */
const differingKeys = async (
  live: Side,
  replayed: Side,
  shape: TableShape,
): Promise<readonly DifferingKey[]> => {
  const found: { key: KeyedRow['k']; only_in: DifferingKey['only_in'] }[] = [];
  const [here, there] = [orderedRows(live, shape), orderedRows(replayed, shape)];
  try {
    let [left, right] = [await here.next(), await there.next()];
    while (found.length < REPORTED_MAX && !(left.done && right.done)) {
      const order = left.done ? 1 : right.done ? -1 : compareKeys(left.value.k, right.value.k);
      if (order < 0 && !left.done) {
        found.push({ key: left.value.k, only_in: 'live' });
        left = await here.next();
      } else if (order > 0 && !right.done) {
        found.push({ key: right.value.k, only_in: 'replayed' });
        right = await there.next();
      } else if (!left.done && !right.done) {
        if (left.value.h !== right.value.h) found.push({ key: left.value.k, only_in: null });
        [left, right] = [await here.next(), await there.next()];
      }
    }
  } finally {
    await here.return(undefined);
    await there.return(undefined);
  }
  const reported: DifferingKey[] = [];
  for (const { key, only_in } of found) {
    const [a, b] =
      only_in === null
        ? [await columnsOf(live, shape, key), await columnsOf(replayed, shape, key)]
        : [[], []];
    reported.push({
      key: Object.fromEntries(shape.key.map((column, index) => [column, key[index] ?? null])),
      only_in,
      columns: shape.columns.filter((_, index) => a[index] !== b[index]),
    });
  }
  return reported;
};

export const compareTable = async (
  live: Side,
  replayed: Side,
  shape: TableShape,
  sum: Checksum,
): Promise<TableComparison> => {
  const other = await checksumOf(replayed.client, replayed.schema, shape);
  const counted = { table: shape.table, live_rows: sum.rows, replayed_rows: other.rows };
  if (sum.rows === other.rows && sum.sum === other.sum) {
    return { ...counted, is_equal: true, groups: null, first_keys: [] };
  }
  return {
    ...counted,
    is_equal: false,
    groups: await differingGroups(live, replayed, shape),
    first_keys: await differingKeys(live, replayed, shape),
  };
};
