import set from 'es-toolkit/compat/set';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';

/** Converts camelCase and headers such as `Page Name`. */
export const snake = (name: string): string =>
  name
    .replaceAll(/[\s-]+/g, '_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();

export const snakeCased = (value: JsonObject): JsonObject => renamed(value) as JsonObject;

const renamed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(renamed);
  if (!isObject(value)) return value;
  const result: { [name: string]: unknown } = {};
  for (const [name, member] of Object.entries(value)) {
    // Two spellings of one name (`pageID`, `pageId`) become one member. The first value that is not null counts.
    const key = snake(name);
    const inner = renamed(member);
    if (result[key] === undefined || result[key] === null) result[key] = inner;
  }
  return result;
};

/** No list of the library is that long, so a greater index is an error. */
const FLATTENED_INDEX_MAX = 1_000;

const isIndexOrName = (part: string): boolean =>
  /^\d+$/.test(part) ? Number(part) <= FLATTENED_INDEX_MAX : part !== 'length';

/** Restores members whose names are paths, such as `cards[0]`, `snapshot.body.text` and `snapshot/cards/0/title`. */
export const unflattened = (value: JsonObject): JsonObject => {
  const result: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const path = name.split(/[./[\]]+/).filter((part) => part !== '');
    const inner = isObject(member) ? unflattened(member) : member;
    set(result, path.length > 1 && path.every(isIndexOrName) ? path : [name], inner);
  }
  return result;
};
