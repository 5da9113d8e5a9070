/** Signs of data frames, databases and spreadsheets for a missing value, when they are all that a cell has. */
const BLANKS: ReadonlySet<string> = new Set(
  String.raw`NaN nan None NULL null NA N/A n/a #N/A <NA> NaT \N - – —`.split(' '),
);
/** Maximum characters of these signs. Longer texts need not be looked up. */
const LONGEST = 4;

/** Returns true when a text is empty, white space or a sign for a missing value. */
export const isBlankText = (text: string): boolean => {
  const trimmed = text.trim();
  return trimmed === '' || (trimmed.length <= LONGEST && BLANKS.has(trimmed));
};
