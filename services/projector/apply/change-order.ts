import type { Change, Projection, Row } from '#projections/define-projection.ts';

export type OrderedChange = Exclude<Change, { readonly kind: 'refresh' }>;

export const rowKey = (row: Row, columns: readonly string[]): string => {
  let text = '';
  for (const column of columns) {
    const value = row[column];
    text += `${typeof value === 'object' ? JSON.stringify(value) : String(value)}\u0000`;
  }
  return text;
};

/** Columns that select the changed row of a table; `null` when the changes may concern any row. */
type Touched = { readonly table: string; readonly key: readonly string[] | null };

type Form = {
  readonly touched: readonly Touched[];
  /** Columns that an update sets; `null` when the changes write or remove the whole row. */
  readonly set: ReadonlySet<string> | null;
  /** Indexes of the groups with this form, ascending. */
  readonly groups: number[];
};

/** Last groups in which a stream changed a table. */
type TableOrder = {
  any: number;
  /** Last group with a change that may concern any row. */
  anyRow: number;
  readonly byColumns: Map<string, RowOrder>;
};
type RowOrder = { last: number; readonly rows: Map<string, Map<Form, number>> };

const signatureOf = (change: OrderedChange): string => {
  switch (change.kind) {
    case 'insert':
      return `insert ${change.table} ${Object.keys(change.row).join()}`;
    case 'upsert':
    case 'update':
      return `${change.kind} ${change.table} ${Object.keys(change.key).join()} ${Object.keys(change.set).join()} ${change.precedence?.column ?? ''}`;
    case 'increment':
      return `increment ${change.table} ${Object.keys(change.key).join()} ${Object.keys(change.by).join()}`;
    case 'delete':
      return `delete ${change.table} ${Object.keys(change.key).join()}`;
    case 'run':
      return `run ${change.statement}`;
  }
};

const formOf = (statements: Projection['statements'], change: OrderedChange): Form => {
  if (change.kind === 'run') {
    const { touches = [], rowsBy = {} } = statements[change.statement] ?? {};
    const touched = touches.map((table) => ({ table, key: rowsBy[table] ?? null }));
    return { touched, set: null, groups: [] };
  }
  const { table } = change;
  if (change.kind === 'insert') return { touched: [{ table, key: null }], set: null, groups: [] };
  const key = Object.keys(change.key);
  const form = { touched: [{ table, key }], set: null, groups: [] };
  if (change.kind !== 'update') return form;
  const set = new Set(Object.keys(change.set));
  const moved = key.find((column) => set.has(column));
  if (moved !== undefined) {
    throw new Error(
      `an update of ${table} sets ${moved}, a column of its key; delete the row and insert another`,
    );
  }
  return { ...form, set };
};

/** True if the order of two changes of one row matters; it does not for updates of different columns. */
const meet = (one: Form, other: Form): boolean => {
  if (one === other || one.set === null || other.set === null) return true;
  for (const column of one.set) if (other.set.has(column)) return true;
  return false;
};

/** Returns the first group at or after `earliest`. The last one would end in groups of one row. */
const firstFrom = (groups: readonly number[], earliest: number): number | undefined => {
  let [from, to] = [0, groups.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((groups[middle] as number) < earliest) from = middle + 1;
    else to = middle;
  }
  return groups[from];
};

/** `row` is `null` for changes that may concern any row. */
const latest = (table: TableOrder, form: Form, columns: string, row: string | null): number => {
  if (row === null) return table.any;
  let index = table.anyRow;
  for (const [others, { last, rows }] of table.byColumns) {
    // Different key columns may select the same row.
    if (others !== columns) index = Math.max(index, last);
    else for (const [other, at] of rows.get(row) ?? []) if (meet(form, other)) index = Math.max(index, at);
  }
  return index;
};

const remember = (
  table: TableOrder,
  form: Form,
  columns: string,
  row: string | null,
  index: number,
): void => {
  table.any = Math.max(table.any, index);
  if (row === null) {
    table.anyRow = Math.max(table.anyRow, index);
    return;
  }
  const order = table.byColumns.get(columns) ?? { last: 0, rows: new Map<string, Map<Form, number>>() };
  table.byColumns.set(columns, order);
  order.last = Math.max(order.last, index);
  const forms = order.rows.get(row) ?? new Map<Form, number>();
  order.rows.set(row, forms);
  forms.set(form, index);
};

type Upserts = { readonly form: Form; readonly columns: ReadonlySet<string>; readonly precedence: string };

const precedenceOf = (change: OrderedChange): string =>
  change.kind === 'upsert' || change.kind === 'update' ? (change.precedence?.column ?? '') : '';

/** Keeps the order of a stream's changes to one row. Order by table would need far more groups. */
export const createChangeOrder = ({ statements }: Pick<Projection, 'statements'>) => {
  const forms = new Map<string, Form>();
  const upsertsOf = new Map<string, Upserts[]>();
  const streams = new Map<string, Map<string, TableOrder>>();

  const formFor = (change: OrderedChange): Form => {
    const signature = signatureOf(change);
    const known = forms.get(signature);
    if (known) return known;
    const form = formOf(statements, change);
    forms.set(signature, form);
    if (change.kind === 'upsert') {
      const columns = new Set(Object.keys(change.set));
      const upserts = { form, columns, precedence: precedenceOf(change) };
      const id = `${change.table} ${Object.keys(change.key).join()}`;
      upsertsOf.set(id, [...(upsertsOf.get(id) ?? []), upserts]);
    }
    return form;
  };

  /** Returns the last group at or after `earliest` that upserts the row of an update with all of its columns. */
  const upsertFor = (
    change: OrderedChange,
    { key, row }: { readonly key: string; readonly row: string | null },
    earliest: number,
    holds: (group: number, row: string) => boolean,
  ): number | undefined => {
    if (change.kind !== 'update' || row === null) return undefined;
    const precedence = precedenceOf(change);
    const columns = Object.keys(change.set);
    for (const upserts of upsertsOf.get(`${change.table} ${key}`) ?? []) {
      if (upserts.precedence !== precedence || !columns.every((one) => upserts.columns.has(one))) continue;
      const found = upserts.form.groups.findLast((group) => group >= earliest && holds(group, row));
      if (found !== undefined) return found;
    }
    return undefined;
  };

  return {
    /**
     * Returns an existing group of the same form, or `next` for a new one. An update joins a group that upserts its
     * row, unless it must follow a later group. `holds`: the group has a row with that key.
     */
    place: (
      stream: string,
      change: OrderedChange,
      next: number,
      holds: (group: number, row: string) => boolean,
    ): number => {
      const form = formFor(change);
      const tables = streams.get(stream) ?? new Map<string, TableOrder>();
      streams.set(stream, tables);
      const values = 'key' in change ? change.key : change.row;
      const places = form.touched.map(({ table, key }) => {
        const order = tables.get(table) ?? { any: 0, anyRow: 0, byColumns: new Map<string, RowOrder>() };
        tables.set(table, order);
        return { order, key: key?.join() ?? '', row: key === null ? null : rowKey(values, key) };
      });
      const earliest = places.reduce(
        (index, { order, key, row }) => Math.max(index, latest(order, form, key, row)),
        0,
      );
      const [own] = places;
      const upsert = own && upsertFor(change, own, earliest, holds);
      const index = upsert ?? firstFrom(form.groups, earliest) ?? next;
      if (index === next) form.groups.push(index);
      for (const { order, key, row } of places) remember(order, form, key, row, index);
      return index;
    },
  };
};
