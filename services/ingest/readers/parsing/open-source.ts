import { createReadStream, type ReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const READ_BYTES = 256 * 1024;

/**
 * A file as a stream of decompressed bytes. Damaged gzip data does not throw: the stream yields all readable bytes and
 * ends, and `damage()` then returns the reason. A damaged file therefore loses only its tail.
 */
export type Source = {
  readonly path: string;
  readonly bytesTotal: number;
  /** Number of bytes read from the file, before decompression. Used for progress. */
  bytesRead(): number;
  /** `null` when no damage was found so far. */
  damage(): string | null;
  /** True while all bytes so far are valid UTF-8. */
  isUtf8(): boolean;
  chunks(): AsyncGenerator<Buffer>;
};

const isGzip = async (path: string): Promise<boolean> => {
  await using handle = await open(path);
  const head = Buffer.alloc(GZIP_MAGIC.length);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  return bytesRead === head.length && GZIP_MAGIC.every((byte, at) => head[at] === byte);
};

/** Opens a file. Detects gzip by content, so a wrong or missing `.gz` extension does not matter. */
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
    // The reader of `gunzip` receives the error. `pipeline` is used only because it closes both streams.
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
