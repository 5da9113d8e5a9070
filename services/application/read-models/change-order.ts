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

type Touched = {
  readonly table: TableOrder;
  /** Columns that select the changed row; `null` when the changes may concern any row. */
  readonly key: readonly string[] | null;
  readonly columns: string;
};

type Form = {
  readonly touched: readonly Touched[];
  /** Columns that an update sets; `null` when the changes write or remove the whole row. */
  readonly set: ReadonlySet<string> | null;
  /** Indexes of the groups with this form, ascending. */
  readonly groups: number[];
};

type TableOrder = {
  /** While one form alone touches a table, all its changes are in one group, and need no order. */
  isShared: boolean;
  readonly streams: Map<string, StreamOrder>;
};
/** Last groups in which a stream changed a table. */
type StreamOrder = {
  any: number;
  /** Last group with a change that may concern any row. */
  anyRow: number;
  readonly byColumns: Map<string, RowOrder>;
};
type Placed = { readonly form: Form; group: number };
type RowOrder = { last: number; readonly rows: Map<string, Placed[]> };

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

/** Columns that an update sets; `null` for other changes. */
const columnsSetBy = (change: OrderedChange): ReadonlySet<string> | null => {
  if (change.kind !== 'update') return null;
  const set = new Set(Object.keys(change.set));
  const moved = Object.keys(change.key).find((column) => set.has(column));
  if (moved !== undefined) {
    throw new Error(
      `an update of ${change.table} sets ${moved}, a column of its key; delete the row and insert another`,
    );
  }
  return set;
};

const touchedBy = (
  statements: Projection['statements'],
  change: OrderedChange,
): readonly (readonly [table: string, key: readonly string[] | null])[] => {
  if (change.kind === 'run') {
    const { touches = [], rowsBy = {} } = statements[change.statement] ?? {};
    return touches.map((table) => [table, rowsBy[table] ?? null]);
  }
  return [[change.table, change.kind === 'insert' ? null : Object.keys(change.key)]];
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
const latest = (order: StreamOrder, form: Form, columns: string, row: string | null): number => {
  if (row === null) return order.any;
  let index = order.anyRow;
  for (const [others, { last, rows }] of order.byColumns) {
    // Different key columns may select the same row.
    if (others !== columns) index = Math.max(index, last);
    else
      for (const placed of rows.get(row) ?? [])
        if (placed.group > index && meet(form, placed.form)) index = placed.group;
  }
  return index;
};

const remember = (
  order: StreamOrder,
  form: Form,
  columns: string,
  row: string | null,
  group: number,
): void => {
  order.any = Math.max(order.any, group);
  if (row === null) {
    order.anyRow = Math.max(order.anyRow, group);
    return;
  }
  const ofColumns = order.byColumns.get(columns) ?? { last: 0, rows: new Map<string, Placed[]>() };
  order.byColumns.set(columns, ofColumns);
  ofColumns.last = Math.max(ofColumns.last, group);
  const placed = ofColumns.rows.get(row);
  const same = placed?.find((one) => one.form === form);
  if (same) same.group = group;
  else if (placed) placed.push({ form, group });
  else ofColumns.rows.set(row, [{ form, group }]);
};

type Upserts = { readonly form: Form; readonly columns: ReadonlySet<string>; readonly precedence: string };

const precedenceOf = (change: OrderedChange): string =>
  change.kind === 'upsert' || change.kind === 'update' ? (change.precedence?.column ?? '') : '';

/** Keeps the order of a stream's changes to one row. Order by table would need far more groups. */
export const createChangeOrder = ({ statements }: Pick<Projection, 'statements'>) => {
  const forms = new Map<string, Form>();
  const upsertsOf = new Map<string, Upserts[]>();
  const tables = new Map<string, TableOrder>();

  const tableFor = (name: string): TableOrder => {
    const known = tables.get(name);
    if (known) known.isShared = true;
    const table = known ?? { isShared: false, streams: new Map<string, StreamOrder>() };
    tables.set(name, table);
    return table;
  };

  const formFor = (change: OrderedChange): Form => {
    const signature = signatureOf(change);
    const known = forms.get(signature);
    if (known) return known;
    const touched: Touched[] = [];
    const form: Form = { touched, set: columnsSetBy(change), groups: [] };
    for (const [name, key] of touchedBy(statements, change))
      touched.push({ table: tableFor(name), key, columns: key?.join() ?? '' });
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
    change: Extract<OrderedChange, { readonly kind: 'update' }>,
    row: string,
    earliest: number,
    holds: (group: number, row: string) => boolean,
  ): number | undefined => {
    const precedence = precedenceOf(change);
    const columns = Object.keys(change.set);
    for (const upserts of upsertsOf.get(`${change.table} ${Object.keys(change.key).join()}`) ?? []) {
      if (upserts.precedence !== precedence || !columns.every((one) => upserts.columns.has(one))) continue;
      const found = upserts.form.groups.findLast((group) => group >= earliest && holds(group, row));
      if (found !== undefined) return found;
    }
    return undefined;
  };

  return {
    /**
     * Returns an existing group of the same form, or `next` for a new one. An update joins a group that upserts its
     * row, unless it must follow a later group. `rowOfChange`: `rowKey` of its key. `holds`: the group has such a row.
     */
    place: (
      stream: string,
      change: OrderedChange,
      rowOfChange: string,
      next: number,
      holds: (group: number, row: string) => boolean,
    ): number => {
      const form = formFor(change);
      const { touched, groups } = form;
      if (!touched.some(({ table }) => table.isShared)) {
        if (groups.length === 0) groups.push(next);
        return groups[0] as number;
      }
      let earliest = 0;
      const places: { readonly order: StreamOrder; readonly columns: string; readonly row: string | null }[] =
        [];
      for (const { table, key, columns } of touched) {
        const order = table.streams.get(stream) ?? {
          any: 0,
          anyRow: 0,
          byColumns: new Map<string, RowOrder>(),
        };
        table.streams.set(stream, order);
        const row = key === null ? null : 'key' in change ? rowOfChange : rowKey(change.row, key);
        earliest = Math.max(earliest, latest(order, form, columns, row));
        places.push({ order, columns, row });
      }
      const index =
        (change.kind === 'update' ? upsertFor(change, rowOfChange, earliest, holds) : undefined) ??
        firstFrom(groups, earliest) ??
        next;
      if (index === next) groups.push(index);
      for (const { order, columns, row } of places) remember(order, form, columns, row, index);
      return index;
    },
  };
};
