import type { JsonObject } from '#domain/shapes/json-object.ts';

/** Names of members that have records or lists of records in the ad formats. The scanner descends into them. */
export const AD_RECORD_MEMBERS: ReadonlySet<string> = new Set([
  'data',
  'payload',
  'ad_library_main',
  'search_results_connection',
  'edges',
  'node',
  'collated_results',
  'results',
]);

/** Members that have records: names at any depth, or the path of one member. */
export type RecordMembers = ReadonlySet<string> | readonly string[];

export type JsonItem =
  | {
      readonly kind: 'record';
      readonly line: number;
      readonly raw: string;
      readonly value: JsonObject;
      /** Members of the enclosing objects that precede the record. */
      readonly context: JsonObject;
      /** Number of enclosing objects. */
      readonly depth: number;
    }
  /** An object with records, emitted without them when it closes. */
  | {
      readonly kind: 'envelope';
      readonly line: number;
      readonly raw: string;
      readonly value: JsonObject;
      /** Number of enclosing objects. */
      readonly depth: number;
    }
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };
