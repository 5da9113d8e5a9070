import type { JsonObject } from '#domain/shapes/json-object.ts';

/** In a path: each member of an object whose members are records. */
export const ANY_MEMBER = '*';

/** Line end, because member names such as domains have dots. */
export const PATH_SEPARATOR = '\n';

export const pathOf = (path: string, member: string): string =>
  path === '' ? member : `${path}${PATH_SEPARATOR}${member}`;

export type RecordPlaces = {
  readonly names?: ReadonlySet<string>;
  readonly paths?: readonly string[];
  readonly find?: (value: JsonObject) => readonly string[];
};

export type JsonValue = {
  readonly line: number;
  readonly raw: string;
  readonly value: JsonObject;
  readonly context: JsonObject;
  readonly path: string;
  readonly depth: number;
};

export type JsonItem =
  | ({ readonly kind: 'record' } & JsonValue)
  | ({ readonly kind: 'envelope' } & JsonValue)
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };
