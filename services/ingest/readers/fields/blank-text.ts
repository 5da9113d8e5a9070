const BLANKS: ReadonlySet<string> = new Set(
  String.raw`NaN nan None NULL null (null) undefined NA N/A n/a #N/A #NV <NA> NaT NA_character_ character(0) \N - – —`.split(
    ' ',
  ),
);
const LONGEST = Math.max(...Array.from(BLANKS, (blank) => blank.length));

export const isBlankText = (text: string): boolean => {
  const trimmed = text.trim();
  return trimmed === '' || (trimmed.length <= LONGEST && BLANKS.has(trimmed));
};
