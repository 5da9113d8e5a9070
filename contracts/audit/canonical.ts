/** What JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/**
 * The canonical text of a value (RFC 8785): no spaces, properties sorted by UTF-16 code units, numbers and strings
 * as ECMAScript writes them. Equal values have equal texts, so a text can be hashed and signed. Properties that
 * are `undefined` are left out, as JSON leaves them out.
 */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const properties = Object.entries(value)
    .filter(([, property]) => property !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${properties.map(([name, property]) => `${JSON.stringify(name)}:${canonicalJson(property)}`).join()}}`;
};
