import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';

const snake = (name: string): string =>
  name
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

const PATH_PART = /([^.[\]]+)|\[(\d+)\]/g;
/** No list of the library is that long, so a greater index is an error. */
const FLATTENED_INDEX_MAX = 1_000;

const isPart = (part: string | number): boolean =>
  typeof part === 'number' ? part <= FLATTENED_INDEX_MAX : part !== '__proto__' && part !== 'length';

export const unflattened = (value: JsonObject): JsonObject => {
  const result: Parent = {};
  for (const [name, member] of Object.entries(value)) {
    const path = [...name.matchAll(PATH_PART)].map((found) => found[1] ?? Number(found[2]));
    const parts = path.length > 1 && path.every(isPart) ? path : [name];
    const parent = parts.slice(0, -1).reduce<Parent>((at, part, index) => {
      if (typeof at[part] !== 'object' || at[part] === null)
        at[part] = typeof parts[index + 1] === 'number' ? [] : {};
      return at[part] as Parent;
    }, result);
    parent[parts.at(-1) ?? name] = isObject(member) ? unflattened(member) : member;
  }
  return result;
};

type Parent = { [name: string | number]: unknown };
