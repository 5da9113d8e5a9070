import type { JsonObject } from './json-value.ts';

/** An object being read: a record, until a member of it turns out to hold records. */
export type ObjectFrame = {
  readonly kind: 'object';
  readonly line: number;
  /** Width of the white space that the object's line begins with. */
  readonly indent: number;
  readonly parts: Buffer[];
  size: number;
  context: JsonObject;
  envelope: boolean;
  depth: number;
  inString: boolean;
  escaped: boolean;
  /** Of a member at the object's own level: its name as read so far, `null` outside a name. */
  key: string | null;
  place: 'key' | 'colon' | 'value' | 'inside';
  /** The first line inside that begins as this record's own line did: where to go on if this one is broken. */
  nextStart: { readonly offset: number; readonly line: number } | null;
  starts: number;
  /** Over the limit: its bytes are dropped until it closes. */
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
  place: 'key',
  nextStart: null,
  starts: 0,
  tooLong: false,
});

export const textOf = (frame: ObjectFrame): string => Buffer.concat(frame.parts).toString('utf8');
