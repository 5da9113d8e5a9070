import { createReadStream, type ReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const READ_BYTES = 256 * 1024;

/**
 * A file as a stream of decompressed bytes. Damage does not throw: what could be read is read, the stream
 * ends, and `damage()` says afterwards what was wrong, so that one bad file costs its tail and no more.
 */
export type Source = {
  readonly path: string;
  readonly bytesTotal: number;
  /** Bytes of the file itself, before decompression: what a progress bar counts. */
  bytesRead(): number;
  damage(): string | null;
  /** Whether the bytes decoded as UTF-8 so far. */
  isUtf8(): boolean;
  chunks(): AsyncGenerator<Buffer>;
};

const isGzip = async (path: string): Promise<boolean> => {
  await using handle = await open(path);
  const head = Buffer.alloc(GZIP_MAGIC.length);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  return bytesRead === head.length && GZIP_MAGIC.every((byte, at) => head[at] === byte);
};

/** Opens by content, not by name: a `.gz` that is none, and a gzip without the ending, are both read. */
export const openSource = async (path: string): Promise<Source> => {
  const { size } = await stat(path);
  const gzip = await isGzip(path);
  let file: ReadStream | null = null;
  let damage: string | null = null;
  let utf8 = true;

  const chunks = async function* (): AsyncGenerator<Buffer> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    file = createReadStream(path, { highWaterMark: READ_BYTES });
    const stream = gzip ? gunzipped(file) : file;
    try {
      for await (const chunk of stream) {
        const bytes = chunk as Buffer;
        if (utf8) utf8 = decodes(decoder, bytes);
        yield bytes;
      }
    } catch (error) {
      if (!gzip || !isZlibError(error)) throw error;
      damage = `the gzip data is cut short or damaged after ${file.bytesRead} of ${size} bytes (${error.code})`;
    }
  };

  return {
    path,
    bytesTotal: size,
    bytesRead: () => file?.bytesRead ?? 0,
    damage: () => damage,
    isUtf8: () => utf8,
    chunks,
  };
};

const gunzipped = (file: ReadStream): Readable => {
  const gunzip = createGunzip({ chunkSize: READ_BYTES });
  pipeline(file, gunzip, () => {
    // A fault reaches whoever reads from `gunzip`; here only both streams are closed.
  });
  return gunzip;
};

const decodes = (decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): boolean => {
  try {
    decoder.decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
};

const isZlibError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
