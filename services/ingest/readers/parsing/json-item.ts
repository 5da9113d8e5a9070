import type { JsonObject } from '#domain/shapes/json-object.ts';

/** Stands in a path for each member of an object whose members are records. */
export const ANY_MEMBER = '*';

/** Stands between the names of a path. Names of members may have dots, such as domains. */
export const PATH_SEPARATOR = '\n';

/** Returns the path of a member. The path of a value at the top level is empty. */
export const pathOf = (path: string, member: string): string =>
  path === '' ? member : `${path}${PATH_SEPARATOR}${member}`;

/** The places of the records in a file. */
export type RecordPlaces = {
  /** Names of members that have records, at any depth. */
  readonly names?: ReadonlySet<string>;
  /** Paths of members that have records. */
  readonly paths?: readonly string[];
  /** Returns the paths inside a value at which it has records. The empty path: the value is one. */
  readonly find?: (value: JsonObject) => readonly string[];
};

type JsonValue = {
  readonly line: number;
  readonly raw: string;
  readonly value: JsonObject;
  /** Members of the enclosing objects that precede the record. */
  readonly context: JsonObject;
  /** Path of the list or member that has the record. */
  readonly path: string;
  /** Number of enclosing objects. */
  readonly depth: number;
};

export type JsonItem =
  | ({ readonly kind: 'record' } & JsonValue)
  /** An object with records, emitted without them when it closes. */
  | ({ readonly kind: 'envelope' } & JsonValue)
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };
