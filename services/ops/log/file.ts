import { type Hash, createHash } from 'node:crypto';
import { z } from 'zod';
import { createReadStream } from 'node:fs';
import { createGunzip, gzip } from 'node:zlib';
import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { addMark, canCarryMark, portable } from '#platform/event-store/copy/first-recorded.ts';
import type { EncodedEvent } from '#platform/event-store/append-stream.ts';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { Refusal } from '#contracts/errors.ts';
import { pause } from '#platform/clock.ts';
import { isConnectionFault } from '#platform/event-store/errors.ts';

/** SHA-256 over all fields, with the original position and time if the event carries them. */
export const portableHash = (event: RawEvent): string => {
  const { stream, revision, id, type, contentType, data, metadata, position, at } = portable(event);
  const origin = canCarryMark({ type, data, metadata }) ? [String(position), at] : [];
  const fields = [stream, String(revision), id, type, contentType, data.length, metadata.length, ...origin];
  return createHash('sha256').update(JSON.stringify(fields)).update(data).update(metadata).digest('hex');
};

/** Returns the event with its original position and time. Events without space for the mark stay unchanged. */
export const markedCopy = (event: RawEvent): EncodedEvent => {
  const { id, type, contentType, data, metadata, position, at } = portable(event);
  const isMarked = canCarryMark({ type, data, metadata });
  return {
    id,
    type,
    contentType,
    data,
    metadata: isMarked ? addMark(metadata, { position: String(position), at }) : metadata,
  };
};

export const nameOf = ({ stream, revision, type }: Pick<RawEvent, 'stream' | 'revision' | 'type'>): string =>
  `${type} ${stream} ${revision}`;

/**
 * A log as NDJSON in gzip members. Each member ends with a checksum that covers the checksum before it. A reader thus
 * detects truncation, changes and reordering, and an interrupted export continues after the last whole member.
 */
export const FORMAT = 'ad-intelligence-log';
export const VERSION = 1;
export const BLOCK_MAX_EVENTS = 1_000;
export const BLOCK_MAX_BYTES = 4 * 1024 * 1024;
export const LINE_MAX_BYTES = 32 * 1024 * 1024;
/** JSON bytes per byte of content above which content is written as base64. */
const TEXT_MAX_GROWTH = 1.5;

const Whole = z.string().regex(/^\d{1,20}$/);
const Bytes = z.union([z.string(), z.strictObject({ base64: z.base64() })]);

export const Header = z.strictObject({ format: z.literal(FORMAT), version: z.literal(VERSION) });
const EventLine = z.strictObject({
  stream: z.string().min(1),
  revision: Whole,
  position: Whole,
  at: z.iso.datetime(),
  id: z.guid(),
  type: z.string().min(1),
  content_type: z.string(),
  data: Bytes,
  metadata: Bytes,
});
/** The last line of a block. `events` counts from the beginning of the file. */
const Checksum = z.strictObject({ checksum: z.string(), events: z.int(), end: z.literal(true).optional() });

/** Returns text where it keeps the bytes and is short: it compresses and reads better than base64. */
const bytesField = (bytes: Uint8Array): z.infer<typeof Bytes> => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  const isKept = Buffer.from(text, 'utf8').equals(buffer);
  const isShort = isKept && Buffer.byteLength(JSON.stringify(text)) <= TEXT_MAX_GROWTH * buffer.length + 2;
  return isShort ? text : { base64: buffer.toString('base64') };
};
const fieldBytes = (field: z.infer<typeof Bytes>): Buffer =>
  typeof field === 'string' ? Buffer.from(field, 'utf8') : Buffer.from(field.base64, 'base64');

/** Writes the original position and time, so that the file of a copy equals that of the original. */
export const lineOf = (event: RawEvent): string => {
  const { stream, revision, position, at, id, type, contentType, data, metadata } = portable(event);
  const line: z.infer<typeof EventLine> = {
    stream,
    revision: String(revision),
    position: String(position),
    at,
    id,
    type,
    content_type: contentType,
    data: bytesField(data),
    metadata: bytesField(metadata),
  };
  return JSON.stringify(line);
};

export type Line =
  | { readonly kind: 'event'; readonly event: RawEvent }
  | {
      readonly kind: 'checksum';
      readonly checksum: string;
      readonly events: number;
      readonly isEnd: boolean;
    };

/** Parses a line after the first; `null` when it is neither an event nor a checksum. */
export const parseLine = (value: unknown): Line | null => {
  const sum = Checksum.safeParse(value).data;
  if (sum) return { kind: 'checksum', checksum: sum.checksum, events: sum.events, isEnd: sum.end === true };
  const line = EventLine.safeParse(value).data;
  if (!line) return null;
  const { content_type: contentType, revision, position, data, metadata, ...rest } = line;
  const event: RawEvent = {
    ...rest,
    contentType,
    revision: BigInt(revision),
    position: BigInt(position),
    data: fieldBytes(data),
    metadata: fieldBytes(metadata),
  };
  return { kind: 'event', event };
};

export const checksumLine = (checksum: string, events: number, isEnd: boolean): string =>
  JSON.stringify({ checksum, events, ...(isEnd && { end: true }) });

/** Each checksum covers the checksum before it; empty for the first block. */
export const beginChecksum = (before: string): Hash => createHash('sha256').update(`${before}\n`);

export const damaged = (file: string, what: string, events: number): Refusal =>
  new Refusal(
    'invalid_input',
    `${file} is damaged: ${what}, after ${events} events. Nothing was taken from it. Use another copy of the file.`,
  );

const LINE_FEED = 0x0a;

class LineTooLong extends Error {}

/** Splits at line feeds only. `node:readline` also splits at U+2028, which JSON texts may hold. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer): void => {
    parts.push(part);
    bytes += part.length;
    if (bytes > LINE_MAX_BYTES) throw new LineTooLong();
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      take(chunk.subarray(from, at));
      yield Buffer.concat(parts, bytes);
      parts = [];
      bytes = 0;
      from = at + 1;
    }
    if (from < chunk.length) take(chunk.subarray(from));
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes);
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const requireHeader = (file: string, value: unknown): void => {
  if (Header.safeParse(value).success) return;
  throw new Refusal(
    'invalid_input',
    `${file} is no log file of this service, or one of a newer release. Name a file that \`log export\` wrote.`,
  );
};

async function* eventsOf(file: string, lines: AsyncIterable<Buffer>): AsyncGenerator<RawEvent> {
  let block = beginChecksum('');
  let count = 0;
  let hasHeader = false;
  let hasEnded = false;
  for await (const text of lines) {
    if (hasEnded) throw damaged(file, 'it goes on after its end', count);
    const value = parseJson(text.toString('utf8'));
    if (!hasHeader) {
      requireHeader(file, value);
      hasHeader = true;
      block.update(text).update('\n');
      continue;
    }
    const line = parseLine(value);
    if (!line) throw damaged(file, 'a line is no event', count);
    if (line.kind === 'event') {
      block.update(text).update('\n');
      yield line.event;
      count += 1;
      continue;
    }
    if (line.checksum !== block.digest('hex') || line.events !== count) {
      throw damaged(file, 'events were changed, removed, added or reordered', count);
    }
    block = beginChecksum(line.checksum);
    hasEnded = line.isEnd;
  }
  if (!hasHeader) requireHeader(file, null);
  if (!hasEnded) throw damaged(file, 'it was cut short', count);
}

/** Yields events; throws `Refusal` at the first fault. Check the file first: earlier events must not be used then. */
export async function* readLogFile(file: string): AsyncGenerator<RawEvent> {
  const input = createReadStream(file);
  const unzipped = input.pipe(createGunzip());
  input.once('error', (error) => unzipped.destroy(error));
  let count = 0;
  try {
    for await (const event of eventsOf(file, linesOf(unzipped))) {
      yield event;
      count += 1;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof LineTooLong) throw damaged(file, 'a line is too long', count);
    if (code === 'ENOENT') throw new Refusal('invalid_input', `${file} does not exist.`);
    if (code?.startsWith('Z_')) {
      throw damaged(file, 'it was cut short, or its compression was damaged', count);
    }
    throw error;
  } finally {
    input.destroy();
    unzipped.destroy();
  }
}

/** Returns the number of events; throws `Refusal` when the file is not whole. */
export const checkLogFile = async (
  file: string,
  onChecked: (events: number) => void = () => undefined,
): Promise<number> => {
  let count = 0;
  for await (const _ of readLogFile(file)) {
    count += 1;
    onChecked(count);
  }
  return count;
};

/** Consecutive connection faults without an event after which a read stops. */
const FAULTS_MAX = 12;
const FAULT_PAUSE_MS = 500;

/** Reads a log to its current end. Reconnects after lost connections. */
export async function* readOn(log: RawLog, after: bigint | null): AsyncGenerator<RawEvent> {
  let reached = after;
  let faults = 0;
  for (;;) {
    try {
      for await (const event of log.forwards(reached)) {
        yield event;
        reached = event.position;
        faults = 0;
      }
      return;
    } catch (error) {
      faults += 1;
      if (!isConnectionFault(error) || faults >= FAULTS_MAX) throw error;
      await pause(FAULT_PAUSE_MS * faults);
    }
  }
}

const compress = promisify(gzip);
const COMPRESSION = { level: 6 } as const;
const MODE = 0o600;

const State = z.strictObject({
  bytes: z.int(),
  events: z.int(),
  checksum: z.string(),
  /** Position and hash of the last event; `null` before the first. */
  last: z.strictObject({ position: z.string(), hash: z.string() }).nullable(),
});
type State = z.infer<typeof State>;

const BEGINNING: State = { bytes: 0, events: 0, checksum: '', last: null };

export type WrittenFile = { readonly events: number; readonly checksum: string };

const namesOf = (file: string) => ({ part: `${file}.part`, state: `${file}.part.json` });

const readState = async (file: string): Promise<State> => {
  const { part, state } = namesOf(file);
  try {
    const found = State.parse(JSON.parse(await readFile(state, 'utf8')));
    return (await stat(part)).size >= found.bytes ? found : BEGINNING;
  } catch {
    return BEGINNING;
  }
};

const writeState = async (file: string, state: State): Promise<void> => {
  const name = namesOf(file).state;
  await writeFile(`${name}.new`, JSON.stringify(state), { mode: MODE, flush: true });
  await rename(`${name}.new`, name);
};

const requireSameLog = async (file: string, log: RawLog, { last }: State): Promise<void> => {
  if (last === null) return;
  const event = await log.at(BigInt(last.position));
  if (event && portableHash(event) === last.hash) return;
  const { part, state } = namesOf(file);
  throw new Refusal(
    'invalid_input',
    `${part} was begun from another log. Name another file, or remove ${part} and ${state}.`,
  );
};

const createBlock = (before: string, header: string | null) => {
  const lines: string[] = [];
  let bytes = 0;
  let events = 0;
  const add = (line: string): void => {
    lines.push(`${line}\n`);
    bytes += Buffer.byteLength(line) + 1;
  };
  if (header !== null) add(header);
  return {
    add: (event: RawEvent): void => {
      add(lineOf(event));
      events += 1;
    },
    isFull: (): boolean => events >= BLOCK_MAX_EVENTS || bytes >= BLOCK_MAX_BYTES,
    end: (eventsBefore: number, isEnd: boolean) => {
      const text = lines.join('');
      const checksum = beginChecksum(before).update(text).digest('hex');
      const total = eventsBefore + events;
      return { text: `${text}${checksumLine(checksum, total, isEnd)}\n`, checksum, events: total };
    },
  };
};

const HEADER = JSON.stringify({ format: FORMAT, version: VERSION });
const openBlock = ({ checksum, events }: State) => createBlock(checksum, events === 0 ? HEADER : null);

const writeBlock = async (
  handle: FileHandle,
  before: State,
  block: ReturnType<typeof createBlock>,
  last: RawEvent | null,
  isEnd: boolean,
): Promise<State> => {
  const { text, checksum, events } = block.end(before.events, isEnd);
  const member = await compress(text, COMPRESSION);
  await handle.appendFile(member);
  await handle.datasync();
  const place = last && { position: String(last.position), hash: portableHash(last) };
  return { bytes: before.bytes + member.length, events, checksum, last: place ?? before.last };
};

/** Throws while another export writes the file; the next export would then start again. */
const requireOnlyWriter = async (file: string, handle: FileHandle, { bytes }: State): Promise<void> => {
  const { part, state } = namesOf(file);
  const [ours, named] = [await handle.stat(), await stat(part).catch(() => null)];
  if (ours.size === bytes && named?.ino === ours.ino) return;
  await rm(state, { force: true });
  throw new Refusal(
    'invalid_input',
    `Another export writes to ${part}. Let one finish, or name different files, then repeat the command.`,
  );
};

const syncFolder = async (file: string): Promise<void> => {
  await using folder = await open(dirname(file), 'r');
  await folder.sync();
};

export type ExportOptions = {
  readonly onWritten?: (event: RawEvent, events: number) => void;
  readonly signal?: AbortSignal;
};

/** Exports the log, or resumes an export. Returns `null` when aborted. Throws `Refusal` when the file exists. */
export const writeLogFile = async (
  file: string,
  log: RawLog,
  { onWritten, signal }: ExportOptions = {},
): Promise<WrittenFile | null> => {
  if (await stat(file).catch(() => null)) {
    throw new Refusal('invalid_input', `${file} exists. Name a new file: a backup is never overwritten.`);
  }
  const { part, state: stateFile } = namesOf(file);
  let state = await readState(file);
  await requireSameLog(file, log, state);
  const handle = await open(part, 'a', MODE);
  try {
    await handle.truncate(state.bytes);
    let block = openBlock(state);
    let last: RawEvent | null = null;
    let count = state.events;
    for await (const event of readOn(log, state.last && BigInt(state.last.position))) {
      if (signal?.aborted) return null;
      block.add(event);
      last = event;
      count += 1;
      onWritten?.(event, count);
      if (!block.isFull()) continue;
      await requireOnlyWriter(file, handle, state);
      state = await writeBlock(handle, state, block, last, false);
      await writeState(file, state);
      block = openBlock(state);
    }
    if (signal?.aborted) return null;
    await requireOnlyWriter(file, handle, state);
    state = await writeBlock(handle, state, block, last, true);
    await requireOnlyWriter(file, handle, state);
  } finally {
    await handle.close();
  }
  await rename(part, file);
  await syncFolder(file);
  await rm(stateFile, { force: true });
  return { events: state.events, checksum: state.checksum };
};
