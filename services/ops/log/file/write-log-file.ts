import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { portableHash } from '../transfer/portable-event.ts';
import { readOn } from '../transfer/read-on.ts';
import {
  beginChecksum,
  BLOCK_MAX_BYTES,
  BLOCK_MAX_EVENTS,
  checksumLine,
  FORMAT,
  lineOf,
  VERSION,
} from './format.ts';

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
