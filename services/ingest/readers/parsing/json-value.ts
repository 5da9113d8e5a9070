import { isSafeNumber, parse as parseLossless } from 'lossless-json';

export type JsonObject = { readonly [key: string]: unknown };

/**
 * A number of 16 digits or more may not fit a double, and one with an exponent was rounded before. The test may hit
 * inside a text, which costs time only.
 */
const LONG_NUMBER = /[:,[]\s*-?(?:\d{16,}|\d[\d.]*[eE]\+?\d)/;
/** So long are ids, and nothing else that an export counts. */
const ID_DIGITS_FROM = 1e15;

/** As it is written where it may be an id that was rounded: what reads ids tells it by its point or exponent. */
const numberOf = (written: string): number | string => {
  const isWhole = /^-?\d+$/.test(written);
  if (isWhole ? isSafeNumber(written) : Math.abs(Number(written)) < ID_DIGITS_FROM) return Number(written);
  return written;
};

/** JSON whose integers beyond 2^53 come out as strings of their digits, and other numbers so large as they stand. */
export const parseJson = (text: string): unknown =>
  LONG_NUMBER.test(text) ? parseLossless(text, undefined, numberOf) : JSON.parse(text);

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object at a member, or an empty one. */
export const objectAt = (value: JsonObject, key: string): JsonObject => {
  const member = value[key];
  return isObject(member) ? member : {};
};

/** The objects of a list at a member, or none. */
export const objectsAt = (value: JsonObject, key: string): readonly JsonObject[] => {
  const member = value[key];
  return Array.isArray(member) ? member.filter(isObject) : [];
};
