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

export const unflattened = (value: JsonObject): JsonObject => {
  const result: { [name: string]: unknown } = {};
  for (const [name, member] of Object.entries(value)) {
    const inner = isObject(member) ? unflattened(member) : member;
    const path = [...name.matchAll(PATH_PART)].map((found) => found[1] ?? Number(found[2]));
    if (path.length < 2 || path.some((part) => typeof part === 'number' && part > FLATTENED_INDEX_MAX)) {
      result[name] = inner;
    } else {
      setAtPath(result, path, inner);
    }
  }
  return result;
};

const setAtPath = (
  root: { [name: string]: unknown },
  path: readonly (string | number)[],
  value: unknown,
): void => {
  let parent: { [name: string | number]: unknown } = root;
  path.forEach((key, index) => {
    if (key === '__proto__') return;
    const next = path[index + 1];
    if (next === undefined) {
      parent[key] = value;
      return;
    }
    const existing = parent[key];
    if (typeof existing !== 'object' || existing === null) parent[key] = typeof next === 'number' ? [] : {};
    parent = parent[key] as { [name: string | number]: unknown };
  });
};
