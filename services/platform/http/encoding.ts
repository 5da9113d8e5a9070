import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib';

/** Smaller bodies are sent as they are: the header costs as much as is saved. */
export const COMPRESSED_MIN_BYTES = 1_024;

/** In the order in which this server prefers them. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Nearly as small as the maximum, in a fiftieth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const brotli = promisify(brotliCompress);
/** They run on the thread pool, so that no other request waits for them. */
export const COMPRESS: Readonly<Record<Encoding, (content: Buffer) => Promise<Buffer>>> = {
  zstd: promisify(zstdCompress),
  br: (content) => brotli(content, BROTLI),
  gzip: promisify(gzip),
};

/** Compresses a reply of unknown length as it is written. */
export const openCompressor = (encoding: Encoding): Transform => {
  if (encoding === 'zstd') return createZstdCompress();
  return encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip();
};

/** `null` when the client takes no encoding of this server (RFC 9110, section 12.5.3). */
export const acceptedEncoding = (header: string | undefined): Encoding | null => {
  if (header === undefined) return null;
  const accepted = new Set(
    header
      .split(',')
      .map((one) => one.trim().toLowerCase())
      .filter((one) => !/;\s*q=0(?:\.0+)?$/.test(one))
      .map((one) => one.split(';', 1)[0]?.trim()),
  );
  return ENCODINGS.find((encoding) => accepted.has(encoding)) ?? null;
};
