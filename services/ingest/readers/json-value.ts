import { isSafeNumber, parse as parseLossless } from 'lossless-json';

export type JsonObject = { readonly [key: string]: unknown };

/** A number of 16 digits or more may not fit a double. The test may hit inside a text, which costs time only. */
const LONG_NUMBER = /[:,[]\s*-?\d{16,}/;

/** JSON whose integers beyond 2^53 come out as strings of their digits. */
export const parseJson = (text: string): unknown =>
  LONG_NUMBER.test(text)
    ? parseLossless(text, undefined, (digits) => (isSafeNumber(digits) ? Number(digits) : digits))
    : JSON.parse(text);

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
