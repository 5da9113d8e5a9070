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

type Form = {
  /** Columns that select the row; `null` when the changes may concern any row. */
  readonly key: readonly string[] | null;
  /** Columns that an update sets; `null` when the changes write or remove the whole row. */
  readonly set: ReadonlySet<string> | null;
  readonly tables: readonly string[];
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
    return { key: null, set: null, tables: statements[change.statement]?.touches ?? [], groups: [] };
  }
  const form = { key: null, set: null, tables: [change.table], groups: [] };
  if (change.kind === 'insert') return form;
  const key = Object.keys(change.key);
  if (change.kind !== 'update') return { ...form, key };
  const set = new Set(Object.keys(change.set));
  const moved = key.find((column) => set.has(column));
  if (moved !== undefined) {
    throw new Error(
      `an update of ${change.table} sets ${moved}, a column of its key; delete the row and insert another`,
    );
  }
  return { ...form, key, set };
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

const latest = (table: TableOrder, form: Form, columns: string, row: string): number => {
  if (form.key === null) return table.any;
  let index = table.anyRow;
  for (const [others, { last, rows }] of table.byColumns) {
    // Different key columns may select the same row.
    if (others !== columns) index = Math.max(index, last);
    else for (const [other, at] of rows.get(row) ?? []) if (meet(form, other)) index = Math.max(index, at);
  }
  return index;
};

const remember = (table: TableOrder, form: Form, columns: string, row: string, index: number): void => {
  table.any = Math.max(table.any, index);
  if (form.key === null) {
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

/** Keeps the order of a stream's changes to one row. Order by table would need far more groups. */
export const createChangeOrder = ({ statements }: Pick<Projection, 'statements'>) => {
  const forms = new Map<string, Form>();
  const streams = new Map<string, Map<string, TableOrder>>();
  return {
    /** Returns an existing group of the same form, or `next` for a new one. */
    place: (stream: string, change: OrderedChange, next: number): number => {
      const signature = signatureOf(change);
      const form = forms.get(signature) ?? formOf(statements, change);
      forms.set(signature, form);
      const tables = streams.get(stream) ?? new Map<string, TableOrder>();
      streams.set(stream, tables);
      const columns = form.key?.join() ?? '';
      const row = form.key === null || !('key' in change) ? '' : rowKey(change.key, form.key);
      const orders = form.tables.map((name) => {
        const order = tables.get(name) ?? { any: 0, anyRow: 0, byColumns: new Map<string, RowOrder>() };
        tables.set(name, order);
        return order;
      });
      const earliest = orders.reduce((index, table) => Math.max(index, latest(table, form, columns, row)), 0);
      const index = firstFrom(form.groups, earliest) ?? next;
      if (index === next) form.groups.push(index);
      for (const table of orders) remember(table, form, columns, row, index);
      return index;
    },
  };
};
