import {
  type ArrayFrame,
  type Frame,
  KEY_MAX_CHARACTERS,
  type ObjectFrame,
  objectFrame,
  textOf,
} from './json-frame.ts';
import { AD_RECORD_MEMBERS, type JsonItem, type RecordMembers } from './json-item.ts';
import { type JsonObject } from '#domain/shapes/json-object.ts';
import { parseJson } from './json-value.ts';

/** Maximum bytes of one record. The list around the records has no limit. */
export const JSON_RECORD_MAX_BYTES = 4 * 1024 * 1024;
/** Maximum nesting depth of lists and envelopes around a record. */
const NESTED_LISTS_MAX = 64;
/** Maximum lines inside a record that look like the first line of a record. With more, the record is unclosed. */
const RECORD_STARTS_INSIDE_MAX = 16;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const [NEWLINE, RETURN, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09];
const isBlank = (byte: number): boolean =>
  byte === SPACE || byte === NEWLINE || byte === TAB || byte === RETURN;

const TOO_LONG = `is longer than ${JSON_RECORD_MAX_BYTES} bytes`;

/**
 * Splits a stream of JSON (one value, a list, result pages, or JSON Lines) into records.
 *
 * A general token parser stops at the first fault, so one missing quote would lose the rest of a file. This scanner
 * only counts brackets and quotes, and `JSON.parse` validates each record. After a broken record it resumes at the next
 * line that begins like the record's first line.
 */
export class JsonScanner {
  #frames: Frame[] = [];
  #line = 1;
  #indent = 0;
  #atLineStart = true;
  #stray: { line: number; bytes: number[] } | null = null;
  #items: JsonItem[] = [];
  /** True when a valid record had a line that looks like a record's first line. Such lines then prove nothing. */
  #startsInside = false;
  readonly #recordMembers: RecordMembers;

  constructor(recordMembers: RecordMembers = AD_RECORD_MEMBERS) {
    this.#recordMembers = recordMembers;
  }

  push(chunk: Buffer): JsonItem[] {
    this.#scan(chunk);
    return this.#drainItems();
  }

  end(): JsonItem[] {
    this.#endStray();
    // A broken record may have swallowed valid ones. Each iteration refuses at least one record, so the loop ends.
    for (let top = this.#top(); top?.kind === 'object' && top.size > 0 && !top.envelope; top = this.#top()) {
      this.#break(top, 'is not closed: it is cut short, or a quote or a bracket of it is missing');
    }
    if (this.#frames.length > 0) {
      this.#items.push({
        kind: 'broken',
        line: this.#line,
        raw: '',
        what: 'the file ends before its list is closed',
      });
    }
    this.#frames = [];
    return this.#drainItems();
  }

  #drainItems(): JsonItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #top(): Frame | undefined {
    return this.#frames.at(-1);
  }

  #scan(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const top = this.#top();
      at = top?.kind === 'object' ? this.#scanObject(top, chunk, at) : this.#scanList(top, chunk, at);
    }
  }

  /** Scans between records. Returns the index at which to continue. */
  #scanList(list: ArrayFrame | undefined, chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      this.#countLine(byte);
      if (byte === NEWLINE) this.#endStray();
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#endStray();
        this.#open(byte, list?.context ?? {});
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

  #open(byte: number, context: JsonObject): void {
    if (this.#frames.length >= NESTED_LISTS_MAX) this.#frames.length = 0;
    if (byte === OPEN_BRACKET) {
      this.#frames.push({ kind: 'array', context });
      return;
    }
    this.#frames.push(objectFrame(this.#line, this.#indent, context));
  }

  /** Scans inside an object. Its opening brace is the first byte. Returns the index at which to continue. */
  #scanObject(frame: ObjectFrame, chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      const opening = frame.depth === 0;
      if (this.#atLineStart && byte === OPEN_BRACE && this.#indent === frame.indent && !opening) {
        frame.nextStart ??= { offset: frame.size + at - from, line: this.#line };
        frame.starts += 1;
        if (frame.tooLong || (frame.starts > RECORD_STARTS_INSIDE_MAX && !this.#startsInside)) {
          if (!frame.tooLong) this.#keep(frame, chunk, from, at);
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
        if (this.#entersHere(frame)) {
          this.#keep(frame, chunk, from, at);
          this.#enter(frame, byte);
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
      if (!frame.tooLong && frame.size + at - from >= JSON_RECORD_MAX_BYTES) {
        this.#keep(frame, chunk, from, at + 1);
        if (frame.nextStart === null) frame.tooLong = true;
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
    } else if (
      frame.depth === 1 &&
      frame.state === 'key' &&
      frame.key !== null &&
      frame.key.length < KEY_MAX_CHARACTERS
    ) {
      frame.key += String.fromCharCode(byte);
    }
  }

  #objectDepth(): number {
    return this.#frames.filter(({ kind }) => kind === 'object').length;
  }

  #entersHere(frame: ObjectFrame): boolean {
    if (frame.depth !== 1 || frame.state !== 'value' || frame.key === null) return false;
    const members = this.#recordMembers;
    return 'has' in members ? members.has(frame.key) : members[this.#objectDepth() - 1] === frame.key;
  }

  #enter(frame: ObjectFrame, byte: number): void {
    const soFar = textOf(frame);
    try {
      frame.context = { ...frame.context, ...(parseJson(`${soFar}null}`) as JsonObject) };
    } catch {
      // The members before the list are not valid JSON. The fault is reported when the object closes.
    }
    frame.parts.push(Buffer.from('null'));
    frame.size += 4;
    frame.envelope = true;
    frame.state = 'inside';
    this.#open(byte, frame.context);
  }

  #close(frame: ObjectFrame): void {
    if (frame.tooLong) {
      this.#break(frame, TOO_LONG);
      return;
    }
    const raw = textOf(frame);
    let value: unknown;
    try {
      value = parseJson(raw);
    } catch (error) {
      this.#break(frame, `is not JSON: ${(error as Error).message}`);
      return;
    }
    this.#frames.pop();
    if (frame.nextStart !== null) this.#startsInside = true;
    const { line, context } = frame;
    const object = value as JsonObject;
    this.#items.push(
      frame.envelope
        ? { kind: 'envelope', line, raw, value: object, depth: this.#objectDepth() }
        : { kind: 'record', line, raw, value: object, context, depth: this.#objectDepth() },
    );
  }

  /** Refuses the top record up to the start of the next one, and scans again from there. */
  #break(frame: ObjectFrame, what: string): void {
    const bytes = Buffer.concat(frame.parts);
    const nextStart = frame.tooLong ? null : frame.nextStart;
    this.#frames.pop();
    const raw = bytes
      .subarray(0, nextStart?.offset ?? bytes.length)
      .toString('utf8')
      .trim();
    this.#items.push({ kind: 'broken', line: frame.line, raw, what });
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
    // Responses of the website begin with this guard, which prevents execution as a script.
    if (raw.replaceAll(' ', '') !== 'for(;;);') {
      this.#items.push({ kind: 'broken', line: this.#stray.line, raw, what: 'is not a JSON record' });
    }
    this.#stray = null;
  }
}
