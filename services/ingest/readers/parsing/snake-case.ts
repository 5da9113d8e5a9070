import { isObject, type JsonObject } from './json-value.ts';

/** `adArchiveID` and `adArchiveId` become `ad_archive_id`. */
const snake = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();

/** The same value with its members' names in snake_case, at every depth. */
export const snakeCased = (value: JsonObject): JsonObject => renamed(value) as JsonObject;

const renamed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(renamed);
  if (!isObject(value)) return value;
  const result: { [name: string]: unknown } = {};
  for (const [name, member] of Object.entries(value)) {
    // Of two spellings of one name (`pageID`, `pageId`) the one that says something counts.
    const key = snake(name);
    const said = renamed(member);
    if (result[key] === undefined || result[key] === null) result[key] = said;
  }
  return result;
};

const PLACE = /([^.[\]]+)|\[(\d+)\]/g;
/** Longer than any list the library shows; a greater index is somebody's mistake, not a list. */
const FLATTENED_INDEX_MAX = 1_000;

/** Undoes flattening: `"cards[0]"`, `"pageInfo.page.id"` become nested members again, at every depth. */
export const unflattened = (value: JsonObject): JsonObject => {
  const result: { [name: string]: unknown } = {};
  for (const [name, member] of Object.entries(value)) {
    const inner = isObject(member) ? unflattened(member) : member;
    const places = [...name.matchAll(PLACE)].map((found) => found[1] ?? Number(found[2]));
    if (
      places.length < 2 ||
      places.some((place) => typeof place === 'number' && place > FLATTENED_INDEX_MAX)
    ) {
      result[name] = inner;
    } else {
      place(result, places, inner);
    }
  }
  return result;
};

const place = (
  root: { [name: string]: unknown },
  places: readonly (string | number)[],
  value: unknown,
): void => {
  let holder: { [name: string | number]: unknown } = root;
  places.forEach((key, at) => {
    if (key === '__proto__') return;
    const next = places[at + 1];
    if (next === undefined) {
      holder[key] = value;
      return;
    }
    const there = holder[key];
    if (typeof there !== 'object' || there === null) holder[key] = typeof next === 'number' ? [] : {};
    holder = holder[key] as { [name: string | number]: unknown };
  });
};
