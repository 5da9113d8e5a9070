import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { Refusal } from '#contracts/errors.ts';
import type { RawEvent } from '#platform/event-store/copy/raw-log.ts';
import { beginChecksum, damaged, Header, LINE_MAX_BYTES, parseLine } from './format.ts';

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
