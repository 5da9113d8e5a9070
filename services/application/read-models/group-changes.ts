import type { Change, Projection, Row } from '#projections/define-projection.ts';
import { createChangeOrder, rowKey } from './change-order.ts';

export type Group =
  | { readonly kind: 'insert'; readonly table: string; readonly rows: Row[] }
  | {
      readonly kind: 'upsert' | 'update';
      readonly table: string;
      readonly key: readonly string[];
      readonly set: readonly string[];
      /** Column of the log position that decides precedence; `null`: the last change wins. */
      readonly precedence: string | null;
      readonly rows: Row[];
    }
  | {
      readonly kind: 'increment';
      readonly table: string;
      readonly key: readonly string[];
      readonly by: readonly string[];
      readonly rows: Row[];
    }
  | { readonly kind: 'delete'; readonly table: string; readonly key: readonly string[]; readonly rows: Row[] }
  | { readonly kind: 'run'; readonly statement: string; readonly rows: Row[] };

type Building = { readonly group: Group; readonly byKey: Map<string, number> };

const emptyGroup = (change: Change): Group => {
  switch (change.kind) {
    case 'insert':
      return { kind: 'insert', table: change.table, rows: [] };
    case 'upsert':
    case 'update':
      return {
        kind: change.kind,
        table: change.table,
        key: Object.keys(change.key),
        set: Object.keys(change.set),
        precedence: change.precedence?.column ?? null,
        rows: [],
      };
    case 'increment':
      return {
        kind: 'increment',
        table: change.table,
        key: Object.keys(change.key),
        by: Object.keys(change.by),
        rows: [],
      };
    case 'delete':
      return { kind: 'delete', table: change.table, key: Object.keys(change.key), rows: [] };
    case 'run':
    case 'refresh':
      return { kind: 'run', statement: change.statement, rows: [] };
  }
};

const positionOf = (change: Change): Row =>
  (change.kind === 'upsert' || change.kind === 'update') && change.precedence
    ? { [change.precedence.column]: change.precedence.position }
    : {};

const isOlder = (position: Row, row: Row | undefined): boolean =>
  Object.entries(position).some(([column, value]) => (value as bigint) < (row?.[column] as bigint));

const addToGroup = ({ group, byKey }: Building, change: Change, key: string): void => {
  if (change.kind === 'insert' || change.kind === 'run' || change.kind === 'refresh') {
    group.rows.push(change.row);
    return;
  }
  const at = byKey.get(key);
  const position = positionOf(change);
  if (at === undefined) {
    byKey.set(key, group.rows.length);
    if (change.kind === 'delete') group.rows.push(change.key);
    else
      group.rows.push({
        ...change.key,
        ...(change.kind === 'increment' ? change.by : change.set),
        ...position,
      });
    return;
  }
  if ((change.kind === 'upsert' || change.kind === 'update') && !isOlder(position, group.rows[at])) {
    group.rows[at] =
      group.kind === 'upsert' && change.kind === 'update'
        ? { ...group.rows[at], ...change.set }
        : { ...change.key, ...change.set, ...position };
  }
  if (change.kind === 'increment') {
    const sum: Record<string, Row[string]> = { ...group.rows[at] };
    for (const [column, by] of Object.entries(change.by)) sum[column] = Number(sum[column]) + by;
    group.rows[at] = sum;
  }
};

/**
 * Groups changes, so that few statements write a batch. A change joins a group only if no later group holds a change
 * that it must follow (`change-order.ts`). An update becomes part of the row that a group upserts, so that the row is
 * written once. Changes of different streams commute (the law of `Projection`). Refreshes come last, each distinct row
 * once.
 */
export const groupChanges = (
  projection: Pick<Projection, 'statements'>,
  events: Iterable<{ readonly stream: string; readonly changes: readonly Change[] }>,
): Group[] => {
  const building: Building[] = [];
  const order = createChangeOrder(projection);
  const refreshes = new Map<string, Map<string, Row>>();
  const holds = (group: number, row: string): boolean => building[group]?.byKey.has(row) === true;

  for (const { stream, changes } of events) {
    for (const change of changes) {
      if (change.kind === 'refresh') {
        const rows = refreshes.get(change.statement) ?? new Map<string, Row>();
        rows.set(rowKey(change.row, Object.keys(change.row)), change.row);
        refreshes.set(change.statement, rows);
        continue;
      }
      const key = 'key' in change ? rowKey(change.key, Object.keys(change.key)) : '';
      const index = order.place(stream, change, key, building.length, holds);
      const group = (building[index] ??= { group: emptyGroup(change), byKey: new Map() });
      addToGroup(group, change, key);
    }
  }
  const runsLast = (statement: string): boolean => projection.statements[statement]?.runsLast === true;
  const inOrder = [...refreshes].toSorted(([a], [b]) => Number(runsLast(a)) - Number(runsLast(b)));
  return [
    ...building.map(({ group }) => group),
    ...inOrder.map(([statement, rows]): Group => ({ kind: 'run', statement, rows: [...rows.values()] })),
  ];
};
