import { stringify } from 'csv-stringify/sync';

/** Writes CSV lines that spreadsheets show as text and never run, in rows that every reader counts alike. */

/**
 * Beginning of a text that spreadsheets read as a formula: after white space, control or format characters, one of
 * `= + - @` in half, full or small width, a tab or a carriage return.
 */
const FORMULA = /^[\s\p{Z}\p{C}]*(?:[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r])/u;
/** A defused text, or one that looks like it: the marks are undone one by one. */
const MARKED = /^'+/;
const MARK = "'";

/** Text that some reader would split, trim or end without quotes. RFC 4180 asks for them at comma, quote, CR and LF only. */
const QUOTED = /["\p{C}\u2028\u2029;|]|^[\s\p{Z}]|[\s\p{Z}]$/u;

const isFormula = (text: string): boolean => FORMULA.test(text.replace(MARKED, ''));

/**
 * Returns the text that a reader finds in the field. A formula gets a leading apostrophe. A lone carriage return becomes
 * a line feed and a NUL character U+FFFD, because some readers end the row or the field there even inside quotes.
 */
export const csvField = (text: string): string =>
  (isFormula(text) ? MARK + text : text).replaceAll(/\r(?!\n)/g, '\n').replaceAll('\u0000', '\uFFFD');

/** Returns the text of a field that `csvField` returned for a text without lone CR and NUL. */
export const textOfCsvField = (field: string): string =>
  field.startsWith(MARK) && isFormula(field) ? field.slice(MARK.length) : field;

type Cell = string | number | null;

/** Formats rows of cells as CSV (RFC 4180). `delimiter` ends each row. A `null` is an empty field. */
export const csvLines = (rows: readonly (readonly Cell[])[], delimiter: '\r\n' | '\n'): string =>
  stringify(
    rows.map((cells) => cells.map((cell) => (typeof cell === 'string' ? csvField(cell) : cell))),
    { quoted_match: QUOTED, record_delimiter: delimiter },
  );
