export type FieldTexts = Readonly<Record<string, string>>;

const EMPTY_OBJECT = '{}';

export const objectText = (fields: FieldTexts): string =>
  `{${Object.entries(fields)
    .map(([name, text]) => `"${name}":${text}`)
    .join()}}`;

export const arrayText = (items: readonly string[]): string => `[${items.join(',')}]`;

/** The fields of `first` come first. They have no field in common. */
export const joinObjects = (first: string, second: string): string => {
  if (first === EMPTY_OBJECT) return second;
  return second === EMPTY_OBJECT ? first : `${first.slice(0, -1)},${second.slice(1)}`;
};

/** At the end. The object has none of them yet. */
export const appendFields = (object: string, fields: FieldTexts): string =>
  joinObjects(object, objectText(fields));

const STRING_AT = /"(?:[^"\\]|\\.)*"/y;

/** `null` without one. The object's own field, unless an object inside or after it has a field of that name. */
export const lastStringField = (json: string, name: string): string | null => {
  const start = `"${name}":`;
  const at = json.lastIndexOf(`${start}"`);
  if (at < 0) return null;
  STRING_AT.lastIndex = at + start.length;
  const [text] = STRING_AT.exec(json) ?? [];
  return text === undefined ? null : (JSON.parse(text) as string);
};
