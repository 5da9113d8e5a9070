import { isSafeNumber, parse as parseLossless } from 'lossless-json';

/** Long numbers may not fit a double, and exponents may show rounded ids. A match in a string costs time only. */
const LONG_NUMBER = /[:,[]\s*-?(?:\d{16,}|\d[\d.]*[eE]\+?\d)/;
const ID_NUMBERS_FROM = 1e15;

/** Text when unsafe as a double, or possibly a rounded id, which the id parser refuses by its point or exponent. */
const numberOf = (literal: string): number | string => {
  const isWhole = /^-?\d+$/.test(literal);
  if (isWhole ? isSafeNumber(literal) : Math.abs(Number(literal)) < ID_NUMBERS_FROM) return Number(literal);
  return literal;
};

const STRING_OR_NAN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|nan|NA|None|undefined|Infinity|inf)\b/gs;

const parse = (text: string): unknown =>
  LONG_NUMBER.test(text) ? parseLossless(text, undefined, numberOf) : JSON.parse(text);

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
