/**
 * Edits of JSON texts that Postgres or `JSON.stringify` wrote, without parsing them: lists of thousands of stored
 * items are served as text. JSON escapes the quotes inside values, so `"field":` occurs only where a field begins.
 * The functions rely on that, and on texts without spaces between tokens.
 */

/** JSON texts by field name. Names need no escaping. */
export type FieldTexts = Readonly<Record<string, string>>;

const EMPTY_OBJECT = '{}';

/** Returns an object of these fields, in their order. */
export const objectText = (fields: FieldTexts): string =>
  `{${Object.entries(fields)
    .map(([name, text]) => `"${name}":${text}`)
    .join()}}`;

/** Returns an array of these texts. */
export const arrayText = (items: readonly string[]): string => `[${items.join(',')}]`;

/** Returns an object with the fields of both, those of `first` first. They have no field in common. */
export const joinObjects = (first: string, second: string): string => {
  if (first === EMPTY_OBJECT) return second;
  return second === EMPTY_OBJECT ? first : `${first.slice(0, -1)},${second.slice(1)}`;
};

/** Returns the object with these fields at its end. It has none of them yet. */
export const appendFields = (object: string, fields: FieldTexts): string =>
  joinObjects(object, objectText(fields));

/** SQL of an object with one more field at its end. `object` is SQL of a text with at least one field. */
export const appendedFieldSql = (object: string, name: string, value: string): string =>
  `left(${object}, -1) || ',"${name}":' || ${value} || '}'`;

const STRING_AT = /"(?:[^"\\]|\\.)*"/y;

/**
 * Returns the string in the last field `name` that holds a string; `null` without one. This is the object's own
 * field when no object after it, or inside it, has a field of that name.
 */
export const lastStringField = (json: string, name: string): string | null => {
  const start = `"${name}":`;
  const at = json.lastIndexOf(`${start}"`);
  if (at < 0) return null;
  STRING_AT.lastIndex = at + start.length;
  const [text] = STRING_AT.exec(json) ?? [];
  return text === undefined ? null : (JSON.parse(text) as string);
};
