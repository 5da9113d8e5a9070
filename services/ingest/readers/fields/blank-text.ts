const BLANKS: ReadonlySet<string> = new Set(
  String.raw`NaN nan None NULL null NA N/A n/a #N/A <NA> NaT \N - – —`.split(' '),
);
const LONGEST = 4;

export const isBlankText = (text: string): boolean => {
  const trimmed = text.trim();
  return trimmed === '' || (trimmed.length <= LONGEST && BLANKS.has(trimmed));
};
