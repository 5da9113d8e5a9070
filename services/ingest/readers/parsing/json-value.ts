/** Long numbers may not fit a double, and exponents may show rounded ids. A match in a string costs time only. */
const LONG_NUMBER = /[:,[]\s*-?(?:\d{16,}|\d[\d.]*[eE]\+?\d)/;
const ID_NUMBERS_FROM = 1e15;

/** Text when unsafe as a double, or possibly a rounded id, which the id parser refuses by its point or exponent. */
const numberOf = (literal: string): number | string => {
  const isWhole = /^-?\d+$/.test(literal);
  if (isWhole ? Number.isSafeInteger(Number(literal)) : Math.abs(Number(literal)) < ID_NUMBERS_FROM)
    return Number(literal);
  return literal;
};

const STRING_OR_NAN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|nan|NA|None|undefined|Infinity|inf)\b/gs;

/** `source`: the text of a number, which TypeScript's declaration of `JSON.parse` lacks. */
const reviveNumber = (_name: string, value: unknown, context?: { readonly source: string }): unknown =>
  typeof value === 'number' && context ? numberOf(context.source) : value;

const parse = (text: string): unknown => JSON.parse(text, LONG_NUMBER.test(text) ? reviveNumber : undefined);

/** Integers beyond 2^53 become digits, other numbers from 1e15 text, `NaN` `null`. Throws `SyntaxError`. */
export const parseJson = (text: string): unknown => {
  try {
    return parse(text);
  } catch (error) {
    const mended = text.replaceAll(STRING_OR_NAN, (found) => (found.startsWith('"') ? found : 'null'));
    if (mended === text) throw error;
    return parse(mended);
  }
};
