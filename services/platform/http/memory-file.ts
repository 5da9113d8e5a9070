import type { FastifyReply, FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Files that are served from memory. They are compressed once in the life of the process, not for each request. */

/** Files below this size gain nothing from compression. */
const COMPRESSED_MIN_BYTES = 1_024;
/** Compresses nearly as well as the maximum, in a fiftieth of the time. */
const BROTLI_QUALITY = 5;
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

type Encoded = Readonly<Record<Encoding, Buffer>>;

export type MemoryFile = {
  readonly type: string;
  readonly content: Buffer;
  /** Weak, because all encodings of the file have it (RFC 9110, section 8.8.1). */
  readonly etag: string;
  /** `null` for a small file, which is sent as it is. */
  readonly encoded: Promise<Encoded> | null;
};

/** Compressed files by the hash of their content. Several servers of one process share them. */
const compressed = new Map<string, Promise<Encoded>>();

const compress = async (content: Buffer): Promise<Encoded> => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [br, gzipped] = await Promise.all([compressBrotli(content, { params }), compressGzip(content)]);
  return { br, gzip: gzipped };
};

/** Creates a file of a content type. Starts to compress it. */
export const memoryFile = (type: string, text: string | Buffer): MemoryFile => {
  const content = Buffer.from(text);
  const digest = hash('sha256', content, 'base64url');
  let encoded: Promise<Encoded> | null = null;
  if (content.length >= COMPRESSED_MIN_BYTES) {
    encoded = compressed.get(digest) ?? compress(content);
    compressed.set(digest, encoded);
  }
  return { type, content, etag: `W/"${digest}"`, encoded };
};

const isUnchanged = (header: string | undefined, etag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((one) => one.trim() === etag));

/** Returns the first encoding of `ENCODINGS` that the client accepts (RFC 9110, section 12.5.3). */
const acceptedEncoding = (header: string | undefined): Encoding | null => {
  const accepted = new Set(
    (header ?? '')
      .split(',')
      .map((one) => one.trim().toLowerCase())
      .filter((one) => !/;\s*q=0(?:\.0+)?$/.test(one))
      .map((one) => one.split(';', 1)[0]?.trim()),
  );
  return ENCODINGS.find((encoding) => accepted.has(encoding)) ?? null;
};

/** Sends the file in an encoding that the client accepts, or 304 when the client has it. */
export const sendMemoryFile = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { type, content, etag, encoded }: MemoryFile,
): Promise<FastifyReply> => {
  void reply.header('etag', etag).header('vary', 'accept-encoding');
  if (isUnchanged(request.headers['if-none-match'], etag)) return reply.status(304).send();
  const encoding = encoded === null ? null : acceptedEncoding(request.headers['accept-encoding']);
  if (encoding === null || encoded === null) return reply.type(type).send(content);
  return reply
    .type(type)
    .header('content-encoding', encoding)
    .send((await encoded)[encoding]);
};
