import {
  type Restated,
  type RestatedCells,
  type RestatedRow,
  RESTATED_ROWS_MAX,
} from '#contracts/events/workspace/restated.ts';
import { boundedGroups } from '../event-size-limit.ts';

/** Rows of delivered documents that differ from the document as its readers know it. Shared by briefs and reports. */

/** Characters of the rows of one event, as JSON. */
const ROWS_MAX_CHARACTERS = 200_000;

/** A row of a document, by brand or by brand and radar item. */
export type DocumentRow = Pick<RestatedRow, 'brand_id' | 'item_id'> & { readonly cells: RestatedCells };

/** State of the restatements of a document. */
export type Told = {
  readonly restatements: number;
  readonly restated_at: string;
  /** Columns that replace those of the delivered row, by `rowKey`; `null` for a removed row. */
  readonly rows: Readonly<Record<string, RestatedCells | null>>;
};

export type Compared = Restated & {
  /** Restatements that the comparison has read. */
  readonly after: number;
};

export const rowKey = ({ brand_id, item_id }: Pick<RestatedRow, 'brand_id' | 'item_id'>): string =>
  `${brand_id} ${item_id ?? ''}`;

export const takeRestated = (told: Told | null, { restated_at, rows }: Restated): Told => ({
  restatements: (told?.restatements ?? 0) + 1,
  restated_at,
  rows: {
    ...told?.rows,
    ...Object.fromEntries(
      rows.map((row): [string, RestatedCells | null] => {
        const key = rowKey(row);
        const isWhole = row.after === null || row.before === null;
        return [key, isWhole ? row.after : { ...told?.rows[key], ...row.after }];
      }),
    ),
  },
});

/** `undefined`: readers know of no such row. */
export const toldCells = (
  told: Told | null,
  key: string,
  delivered: RestatedCells | undefined,
): RestatedCells | undefined => {
  const cells = told?.rows[key];
  if (cells === undefined) return delivered;
  return cells === null ? undefined : { ...delivered, ...cells };
};

const orNull = (cell: string | number | null | undefined): string | number | null =>
  cell === undefined || cell === '' ? null : cell;

const cellsOf = (cells: RestatedCells, columns: readonly string[]): RestatedCells =>
  Object.fromEntries(columns.map((column) => [column, orNull(cells[column])]));

/** `null` when none of the compared columns differs. */
export const findDifference = (
  before: RestatedCells | undefined,
  after: RestatedCells | undefined,
  compared: readonly string[],
): Pick<RestatedRow, 'before' | 'after'> | null => {
  if (before === undefined)
    return after === undefined ? null : { before: null, after: cellsOf(after, Object.keys(after)) };
  if (after === undefined) return { before: cellsOf(before, Object.keys(before)), after: null };
  const changed = compared.filter((column) => orNull(before[column]) !== orNull(after[column]));
  return changed.length === 0 ? null : { before: cellsOf(before, changed), after: cellsOf(after, changed) };
};

/** Records nothing when the comparison has not read the last restatement: another worker was faster. */
export const restate = (told: Told | null, { after, ...restated }: Compared): readonly Restated[] => {
  if ((told?.restatements ?? 0) !== after) return [];
  return boundedGroups(restated.rows, ROWS_MAX_CHARACTERS, RESTATED_ROWS_MAX)
    .slice(0, 1)
    .map((rows) => ({ ...restated, rows }));
};
