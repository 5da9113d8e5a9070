import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

const BLOCK_BYTES = 512;
/** Maximum file size: the size field has eleven octal digits. */
const FILE_MAX_BYTES = 8 ** 11 - 1;
const FILE_MODE = 0o600;
/** Offset of the checksum: the sum of the header's bytes, computed with this field filled with spaces. */
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

const headerOf = (name: string, bytes: number, modified: Date): Buffer => {
  if (bytes > FILE_MAX_BYTES) throw new Error(`${name} is too large for one archive`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100, 'ascii');
  header.write(octal(FILE_MODE, 7), 100, 'ascii');
  header.write(octal(0, 7) + octal(0, 7), 108, 'ascii');
  header.write(octal(bytes, 11) + octal(Math.floor(modified.getTime() / 1_000), 11), 124, 'ascii');
  header.fill(' ', CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES);
  header.write('0', 156, 'ascii');
  header.write('ustar\x0000', 257, 'ascii');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, CHECKSUM_AT, 'ascii');
  return header;
};

export const streamTar = async function* (
  directory: string,
  names: readonly string[],
): AsyncGenerator<Buffer> {
  for (const name of names) {
    const path = join(directory, name);
    const { size, mtime } = await stat(path);
    yield headerOf(name, size, mtime);
    yield* createReadStream(path) as AsyncIterable<Buffer>;
    yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
};
