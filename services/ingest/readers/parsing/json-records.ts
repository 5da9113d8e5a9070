import type { JsonObject } from '#domain/shapes/json-object.ts';
import { parseJson } from './json-value.ts';
import type { Source } from './open-source.ts';

export const WHOLE_FILE_LINE = 1;
export const KEY_MAX_CHARACTERS = 40;
const JSON_RECORD_MAX_BYTES = 4 * 1024 * 1024;
const FIRST_SEARCH_BYTES = JSON_RECORD_MAX_BYTES / 16;
const PATHS_MAX = 10_000;
const NESTED_LISTS_MAX = 64;
/** With more lines that look like the first line of a record, the record is unclosed. */
const RECORD_STARTS_INSIDE_MAX = 16;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const [NEWLINE, RETURN, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09];
const isBlank = (byte: number): boolean =>
  byte === SPACE || byte === NEWLINE || byte === TAB || byte === RETURN;

const NULL = Buffer.from('null');
const TOO_LONG = `is longer than ${JSON_RECORD_MAX_BYTES} bytes`;

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

type JsonItem =
  | ({ readonly kind: 'record' } & JsonValue)
  | ({ readonly kind: 'envelope' } & JsonValue)
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };
/** `number` is from 1; an envelope has that of its last record. */
export type JsonEntry = JsonItem & { readonly number: number };

/** A record, or an envelope when one of its members has records. */
const objectFrame = (line: number, indent: number, context: JsonObject, path: string) => ({
  kind: 'object' as const,
  line,
  indent,
  context,
  path,
  parts: [] as Buffer[],
  size: 0,
  envelope: false,
  /** Bytes at which it is first searched for records; quadrupled each time. */
  searchAt: FIRST_SEARCH_BYTES,
  depth: 0,
  inString: false,
  escaped: false,
  key: '',
  state: 'key' as 'key' | 'colon' | 'value' | 'inside',
  /** First line inside that begins like this record's first line. Scanning resumes there when this record is broken. */
  nextStart: null as { readonly offset: number; readonly line: number } | null,
  starts: 0,
  tooLong: false,
});
type ObjectFrame = ReturnType<typeof objectFrame>;
type ArrayFrame = { readonly kind: 'array'; readonly context: JsonObject; readonly path: string };

const textOf = (parts: readonly Buffer[]): string => Buffer.concat(parts).toString('utf8');

/** Closes a broken-off object after its last complete list or object. */
const closedJson = (text: string): string => {
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

/**
 * One missing quote stops a general parser. This one counts brackets and quotes, leaves validity to `JSON.parse`, and
 * resumes after a broken record. It learns the paths of records inside an object, and scans it again as their envelope.
 */
export class JsonScanner {
  #frames: (ObjectFrame | ArrayFrame)[] = [];
  #line = 1;
  #indent = 0;
  #atLineStart = true;
  #stray: { line: number; bytes: number[] } | null = null;
  readonly #items: JsonEntry[] = [];
  #number = 0;
  /** A valid record had a line like its first line, so such lines prove nothing. */
  #startsInside = false;
  readonly #places: RecordPlaces;
  /** Paths of members that are entered. */
  readonly #entered = new Set<string>();

  constructor(places: RecordPlaces) {
    this.#places = places;
    for (const path of places.paths ?? []) if (path !== '') this.#addPath(path);
  }

  push(chunk: Buffer): JsonEntry[] {
    this.#scan(chunk);
    return this.#items.splice(0);
  }

  end(): JsonEntry[] {
    this.#endStray();
    // A broken record may have swallowed valid ones. Each iteration refuses at least one record, so the loop ends.
    for (let top = this.#top(); top?.kind === 'object' && top.size > 0 && !top.envelope; top = this.#top()) {
      if (!this.#enterPart(top))
        this.#break(top, 'is not closed: it is cut short, or a quote or a bracket of it is missing');
    }
    if (this.#frames.length > 0) {
      const what = 'the file ends before its list is closed';
      this.#add({ kind: 'broken', line: this.#line, raw: '', what });
    }
    this.#frames = [];
    return this.#items.splice(0);
  }

  #add(item: JsonItem): void {
    if (item.kind !== 'envelope') this.#number += 1;
    this.#items.push({ ...item, number: this.#number });
  }

  #top(): ObjectFrame | ArrayFrame | undefined {
    return this.#frames.at(-1);
  }

  #scan(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const top = this.#top();
      at = top?.kind === 'object' ? this.#scanObject(top, chunk, at) : this.#scanList(top, chunk, at);
    }
  }

  #scanList(list: ArrayFrame | undefined, chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      this.#countLine(byte);
      if (byte === NEWLINE) this.#endStray();
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#endStray();
        this.#open(byte, list?.context ?? {}, list?.path ?? '');
        return at + (byte === OPEN_BRACE ? 0 : 1);
      }
      if (byte === CLOSE_BRACKET && list !== undefined) {
        this.#endStray();
        this.#frames.pop();
        return at + 1;
      }
      if (this.#stray !== null || (!isBlank(byte) && byte !== COMMA)) this.#straying(byte);
    }
    return chunk.length;
  }

  #open(byte: number, context: JsonObject, path: string): void {
    if (this.#frames.length >= NESTED_LISTS_MAX) this.#frames.length = 0;
    if (byte === OPEN_BRACKET) this.#frames.push({ kind: 'array', context, path });
    else this.#frames.push(objectFrame(this.#line, this.#indent, context, path));
  }

  #scanObject(frame: ObjectFrame, chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      const opening = frame.depth === 0;
      if (this.#atLineStart && byte === OPEN_BRACE && this.#indent === frame.indent && !opening) {
        frame.nextStart ??= { offset: frame.size + at - from, line: this.#line };
        frame.starts += 1;
        if (frame.tooLong || (frame.starts > RECORD_STARTS_INSIDE_MAX && !this.#startsInside)) {
          if (!frame.tooLong) this.#keep(frame, chunk, from, at);
          if (frame.tooLong || !this.#enterPart(frame))
            this.#break(frame, frame.tooLong ? TOO_LONG : 'is not closed');
          return at;
        }
      }
      if (!opening) this.#countLine(byte);
      if (frame.inString) {
        this.#inString(frame, byte);
      } else if (byte === QUOTE) {
        frame.inString = true;
        if (frame.depth === 1 && frame.state === 'key') frame.key = '';
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        const entered = this.#enteredPath(frame);
        if (entered !== null && this.#enter(frame, byte, entered, chunk.subarray(from, at))) {
          return at + (byte === OPEN_BRACE ? 0 : 1);
        }
        frame.depth += 1;
        if (frame.depth === 2) frame.state = 'inside';
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        frame.depth -= 1;
        if (frame.depth <= 0) {
          this.#keep(frame, chunk, from, at + 1);
          this.#close(frame);
          return at + 1;
        }
      } else if (frame.depth === 1) {
        if (byte === COMMA) frame.state = 'key';
        else if (byte === COLON && frame.state === 'colon') frame.state = 'value';
      }
      if (!frame.tooLong && frame.size + at - from >= frame.searchAt) {
        this.#keep(frame, chunk, from, at + 1);
        if (this.#enterPart(frame)) return at + 1;
        if (frame.searchAt < JSON_RECORD_MAX_BYTES) frame.searchAt *= 4;
        else if (frame.nextStart === null) frame.tooLong = true;
        else this.#break(frame, 'is not closed');
        return at + 1;
      }
    }
    this.#keep(frame, chunk, from, chunk.length);
    return chunk.length;
  }

  #inString(frame: ObjectFrame, byte: number): void {
    if (frame.escaped) {
      frame.escaped = false;
    } else if (byte === BACKSLASH) {
      frame.escaped = true;
    } else if (byte === QUOTE) {
      frame.inString = false;
      if (frame.depth === 1 && frame.state === 'key') frame.state = 'colon';
    } else if (frame.depth === 1 && frame.state === 'key' && frame.key.length < KEY_MAX_CHARACTERS) {
      frame.key += String.fromCharCode(byte);
    }
  }

  #enteredPath({ depth, state, key, path }: ObjectFrame): string | null {
    if (depth !== 1 || state !== 'value') return null;
    const [own, any] = [pathOf(path, key), pathOf(path, ANY_MEMBER)];
    if (this.#entered.has(own)) return own;
    if (this.#entered.has(any)) return any;
    return this.#places.names?.has(key) === true ? own : null;
  }

  #enter(frame: ObjectFrame, byte: number, path: string, rest: Buffer): boolean {
    let before: JsonObject = {};
    try {
      before = parseJson(`${textOf([...frame.parts, rest])}null}`) as JsonObject;
    } catch {
      // The members before the list are not valid JSON. The fault is reported when the object closes.
    }
    if (this.#places.find?.(before).includes('')) return false;
    frame.context = { ...frame.context, ...before };
    this.#keep(frame, rest, 0, rest.length);
    this.#keep(frame, NULL, 0, NULL.length);
    frame.envelope = true;
    frame.state = 'inside';
    const isKeyed = path === pathOf(frame.path, ANY_MEMBER);
    this.#open(byte, isKeyed ? { ...frame.context, [ANY_MEMBER]: frame.key } : frame.context, path);
    return true;
  }

  /** True when the path is new. */
  #addPath(path: string): boolean {
    if (this.#entered.has(path) || this.#entered.size >= PATHS_MAX) return false;
    const names = path.split(PATH_SEPARATOR);
    names.forEach((_, at) => this.#entered.add(names.slice(0, at + 1).join(PATH_SEPARATOR)));
    return true;
  }

  #learn({ path }: ObjectFrame, places: readonly string[]): boolean {
    const added = places.filter((place) => place !== '' && this.#addPath(pathOf(path, place)));
    return added.length > 0;
  }

  /** Enters a part of an unclosed object when the part has records. */
  #enterPart(frame: ObjectFrame): boolean {
    const { find } = this.#places;
    if (find === undefined || frame.tooLong) return false;
    try {
      if (!this.#learn(frame, find(parseJson(closedJson(textOf(frame.parts))) as JsonObject))) return false;
    } catch {
      return false;
    }
    this.#scanAgain(frame);
    return true;
  }

  /** The position after it stays, because an envelope lacks its records. */
  #scanAgain({ parts, line, indent, context, path }: ObjectFrame): void {
    const after = [this.#line, this.#indent, this.#atLineStart] as const;
    this.#frames.pop();
    [this.#line, this.#indent, this.#atLineStart] = [line, indent, false];
    this.#open(OPEN_BRACE, context, path);
    this.#scan(Buffer.concat(parts));
    [this.#line, this.#indent, this.#atLineStart] = after;
  }

  #close(frame: ObjectFrame): void {
    if (frame.tooLong) {
      this.#break(frame, TOO_LONG);
      return;
    }
    const raw = textOf(frame.parts);
    let value: unknown;
    try {
      value = parseJson(raw);
    } catch (error) {
      this.#break(frame, `is not JSON: ${(error as Error).message}`);
      return;
    }
    if (frame.nextStart !== null) this.#startsInside = true;
    const object = value as JsonObject;
    const places = this.#places.find?.(object) ?? [];
    if (this.#learn(frame, places)) {
      this.#scanAgain(frame);
      return;
    }
    this.#frames.pop();
    const { line, context, path } = frame;
    // Records that could not be entered are not left out in silence: their envelope is a record, to be refused.
    const isEnvelope = frame.envelope && places.every((place) => place === '');
    this.#add({
      kind: isEnvelope ? 'envelope' : 'record',
      line,
      raw,
      value: object,
      context,
      path,
      depth: this.#frames.filter(({ kind }) => kind === 'object').length,
    });
  }

  #break(frame: ObjectFrame, what: string): void {
    const bytes = Buffer.concat(frame.parts);
    const nextStart = frame.tooLong ? null : frame.nextStart;
    this.#frames.pop();
    const raw = bytes
      .subarray(0, nextStart?.offset ?? bytes.length)
      .toString('utf8')
      .trim();
    this.#add({ kind: 'broken', line: frame.line, raw, what });
    if (nextStart === null) return;
    this.#line = nextStart.line;
    this.#indent = frame.indent;
    this.#atLineStart = true;
    this.#scan(bytes.subarray(nextStart.offset));
  }

  #keep(frame: ObjectFrame, chunk: Buffer, from: number, to: number): void {
    if (to <= from || frame.tooLong) return;
    frame.parts.push(chunk.subarray(from, to));
    frame.size += to - from;
  }

  #countLine(byte: number): void {
    if (byte === NEWLINE) {
      this.#line += 1;
      this.#indent = 0;
      this.#atLineStart = true;
    } else if (this.#atLineStart && (byte === SPACE || byte === TAB)) {
      this.#indent += 1;
    } else {
      this.#atLineStart = false;
    }
  }

  #straying(byte: number): void {
    this.#stray ??= { line: this.#line, bytes: [] };
    if (this.#stray.bytes.length < JSON_RECORD_MAX_BYTES) this.#stray.bytes.push(byte);
  }

  #endStray(): void {
    if (this.#stray === null) return;
    const raw = Buffer.from(this.#stray.bytes).toString('utf8').trim();
    // Replies of websites begin with such a guard, which prevents execution as a script.
    if (!/^(?:for\(;;\);|\)\]\}',?)$/.test(raw.replaceAll(' ', ''))) {
      this.#add({ kind: 'broken', line: this.#stray.line, raw, what: 'is not a JSON record' });
    }
    this.#stray = null;
  }
}

export async function* jsonRecords(source: Source, places: RecordPlaces): AsyncGenerator<JsonEntry> {
  const scanner = new JsonScanner(places);
  for await (const chunk of source.chunks()) yield* scanner.push(Buffer.from(chunk));
  yield* scanner.end();
}
