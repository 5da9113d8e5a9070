import type { FastifyReply, FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import { acceptedEncoding, COMPRESS, COMPRESSED_MIN_BYTES, type Encoding } from './encoding.ts';

/** Files are compressed once in the life of the process. */

type Encoded = Readonly<Record<Encoding, Buffer>>;

export type MemoryFile = {
  readonly type: string;
  readonly content: Buffer;
  /** Weak, because all encodings of the file have it (RFC 9110, section 8.8.1). */
  readonly etag: string;
  /** `null` for a small file, which is sent as it is. */
  readonly encoded: Promise<Encoded> | null;
};

/** Compressed files by hash of the content, shared by the servers of a process. */
const compressed = new Map<string, Promise<Encoded>>();

const compress = async (content: Buffer): Promise<Encoded> => {
  const [zstd, br, gzip] = await Promise.all([
    COMPRESS.zstd(content),
    COMPRESS.br(content),
    COMPRESS.gzip(content),
  ]);
  return { zstd, br, gzip };
};

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

/** Replies 304 when the client has the file. */
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
