/** Signs of data frames, databases and spreadsheets for a missing value, when they are all that a cell has. */
const BLANKS: ReadonlySet<string> = new Set([
  '',
  'NaN',
  'nan',
  'None',
  'NULL',
  'null',
  'NA',
  'N/A',
  'n/a',
  '#N/A',
  '<NA>',
  'NaT',
  '\\N',
  '-',
  '–',
  '—',
]);
const LONGEST = Math.max(...[...BLANKS].map(({ length }) => length));

/** Returns true when a text is empty, white space or a sign for a missing value. */
export const isBlankText = (text: string): boolean => {
  const trimmed = text.trim();
  return trimmed.length <= LONGEST && BLANKS.has(trimmed);
};
