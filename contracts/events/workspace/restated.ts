/**
 * Values of `BriefRestated` and `ReportRestated`. The document as its readers know it is the delivered one with the rows of all
 * restatements in place of its own.
 */

/** Rows of an event; `rows_total` counts all. */
export const RESTATED_ROWS_MAX = 100;
/** Events named with a row, newest first. */
export const RESTATED_CAUSES_MAX = 3;

/** Values by column; `null` for an empty one. */
export type RestatedCells = Readonly<Record<string, string | number | null>>;

/** A place in the log. */
export type RestatedCause = {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly recorded_at: string;
  readonly observed_at: string | null;
};

/** A row of a brief is a brand; a row of a report is a radar item. */
export type RestatedRow = {
  readonly brand_id: string;
  /** The item and its ad; null for a brief. */
  readonly item_id: string | null;
  readonly ad_id: string | null;
  /** Null for an added row; for a changed row, the columns that differ. */
  readonly before: RestatedCells | null;
  /** Null for a removed row; for a changed row, the columns that differ. */
  readonly after: RestatedCells | null;
  /** Events about the row recorded since the last restatement, or since the document was made, as far as they are known. */
  readonly causes: readonly RestatedCause[];
};

export type Restated = {
  /** All rows that differed, also those that the next restatement has. */
  readonly rows_total: number;
  readonly rows: readonly RestatedRow[];
  readonly restated_at: string;
};
