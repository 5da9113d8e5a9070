import type { JsonObject } from '#domain/shapes/json-object.ts';

export const KEY_MAX_CHARACTERS = 40;
/** A record, or an envelope when one of its members has records. */
export type ObjectFrame = {
  readonly kind: 'object';
  readonly line: number;
  readonly indent: number;
  readonly parts: Buffer[];
  size: number;
  context: JsonObject;
  readonly path: string;
  envelope: boolean;
  /** Bytes at which it is first searched for records; quadrupled each time. */
  searchAt: number;
  depth: number;
  inString: boolean;
  escaped: boolean;
  key: string | null;
  state: 'key' | 'colon' | 'value' | 'inside';
  /** First line inside that begins like this record's first line. Scanning resumes there when this record is broken. */
  nextStart: { readonly offset: number; readonly line: number } | null;
  starts: number;
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

/** Closes a broken-off object after its last complete list or object. */
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
