import { isSafeNumber, parse as parseLossless } from 'lossless-json';

/**
 * Detects numbers that need lossless parsing. A number of 16 or more digits may not fit a double, and one with an
 * exponent may be a rounded id. A match inside a string costs time only.
 */
const LONG_NUMBER = /[:,[]\s*-?(?:\d{16,}|\d[\d.]*[eE]\+?\d)/;
/** Smallest number that can only be an id: no count in an export is that large. */
const ID_NUMBERS_FROM = 1e15;

/**
 * Returns a number, or its literal text when it is unsafe as a double or may be a rounded id. The id parser refuses such
 * a text by its decimal point or exponent.
 */
const numberOf = (literal: string): number | string => {
  const isWhole = /^-?\d+$/.test(literal);
  if (isWhole ? isSafeNumber(literal) : Math.abs(Number(literal)) < ID_NUMBERS_FROM) return Number(literal);
  return literal;
};

/** A string, or a value that programs of data frames write for a blank and JSON does not have. */
const STRING_OR_NAN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|nan|NA|None|undefined|Infinity|inf)\b/gs;

const parse = (text: string): unknown =>
  LONG_NUMBER.test(text) ? parseLossless(text, undefined, numberOf) : JSON.parse(text);

/**
 * Parses JSON. Integers beyond 2^53 become strings of their digits. Other numbers from 1e15 become their literal text.
 * `NaN` and `Infinity` become `null`. Throws `SyntaxError`.
 */
export const parseJson = (text: string): unknown => {
  try {
    return parse(text);
  } catch (error) {
    const mended = text.replaceAll(STRING_OR_NAN, (found) => (found.startsWith('"') ? found : 'null'));
    if (mended === text) throw error;
    return parse(mended);
  }
};
