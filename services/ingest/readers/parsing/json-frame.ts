import type { JsonObject } from '#domain/shapes/json-object.ts';

/** Maximum characters of a member name that is compared. */
export const KEY_MAX_CHARACTERS = 40;
/** An object being scanned. It is a record, unless one of its members has records; then it is an envelope. */
export type ObjectFrame = {
  readonly kind: 'object';
  readonly line: number;
  /** Indentation of the object's first line, in characters. */
  readonly indent: number;
  readonly parts: Buffer[];
  size: number;
  context: JsonObject;
  envelope: boolean;
  depth: number;
  inString: boolean;
  escaped: boolean;
  /** Name of the current member at the object's own level. `null` before the first member. */
  key: string | null;
  /** Position at the object's own level: before a key, before a colon, before a value, or inside a nested value. */
  state: 'key' | 'colon' | 'value' | 'inside';
  /** First line inside that begins like this record's first line. Scanning resumes there if this record is broken. */
  nextStart: { readonly offset: number; readonly line: number } | null;
  /** Number of such lines. */
  starts: number;
  /** True when the record exceeds the size limit. Its bytes are then dropped until it closes. */
  tooLong: boolean;
};
export type ArrayFrame = { readonly kind: 'array'; readonly context: JsonObject };
export type Frame = ObjectFrame | ArrayFrame;

export const objectFrame = (line: number, indent: number, context: JsonObject): ObjectFrame => ({
  kind: 'object',
  line,
  indent,
  parts: [],
  size: 0,
  context,
  envelope: false,
  depth: 0,
  inString: false,
  escaped: false,
  key: null,
  state: 'key',
  nextStart: null,
  starts: 0,
  tooLong: false,
});

export const textOf = (frame: ObjectFrame): string => Buffer.concat(frame.parts).toString('utf8');
