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
  /** Path of the list or member that has the object. */
  readonly path: string;
  envelope: boolean;
  /** Bytes at which it is searched for records, and then four times as many, up to the limit of a record. */
  searchAt: number;
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
export type ArrayFrame = { readonly kind: 'array'; readonly context: JsonObject; readonly path: string };
export type Frame = ObjectFrame | ArrayFrame;

export const objectFrame = (
  line: number,
  indent: number,
  context: JsonObject,
  path: string,
  searchAt: number,
): ObjectFrame => ({
  kind: 'object',
  line,
  indent,
  parts: [],
  size: 0,
  context,
  path,
  searchAt,
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

export const textOf = (parts: readonly Buffer[]): string => Buffer.concat(parts).toString('utf8');

/** Returns the text of an object that breaks off, closed after its last complete list or object. */
export const closedJson = (text: string): string => {
  const open: string[] = [];
  let end = 0;
  let closing = '';
  for (const { 0: found, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|[{}[\]]/gs)) {
    if (found === '{') open.push('}');
    else if (found === '[') open.push(']');
    else if (found === '}' || found === ']') {
      open.pop();
      end = index + 1;
      closing = open.toReversed().join('');
    }
  }
  return `${text.slice(0, end)}${closing}`;
};
