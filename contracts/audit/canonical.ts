/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/**
 * Returns the canonical JSON text of a value (RFC 8785). It has no spaces, properties are sorted by UTF-16 code
 * units, and numbers and strings are written as ECMAScript writes them. Equal values have equal texts, so a text
 * can be hashed and signed. Properties that are `undefined` are left out, as in JSON.
 */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const properties = Object.entries(value)
    .filter(([, property]) => property !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${properties.map(([name, property]) => `${JSON.stringify(name)}:${canonicalJson(property)}`).join()}}`;
};
