import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { contentKindOf, encodingOf, HEAD_BYTES, type SourceContent } from '../content/content-kind.ts';
import { htmlLibraryData } from '../content/html-library-data.ts';
import { archiveContent, type SheetRow, workbookFault, xlsxRows } from '../content/xlsx.ts';

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const READ_BYTES = 256 * 1024;
const HEAD_READ_BYTES = 16 * 1024;

/**
 * Decompressed text or rows. At damage the stream ends without an error, so only the tail is lost; `damage()` has the
 * reason.
 */
export type Source = {
  readonly path: string;
  readonly bytesTotal: number;
  bytesRead(): number;
  damage(): string | null;
  isUtf8(): boolean;
  /** `chunks` and `rows` yield nothing for other kinds than text, HTML page and spreadsheet. */
  readonly content: SourceContent;
  chunks(): AsyncGenerator<string>;
  rows(): AsyncGenerator<SheetRow>;
};

const isGzip = async (path: string): Promise<boolean> => {
  await using handle = await open(path);
  const head = Buffer.alloc(GZIP_MAGIC.length);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  return bytesRead === head.length && GZIP_MAGIC.every((byte, at) => head[at] === byte);
};

export const openSource = async (path: string): Promise<Source> => {
  const { size } = await stat(path);
  const gzip = await isGzip(path);
  const head = await headOf(path, gzip);
  const encoding = encodingOf(head);
  const content = await contentOf(path, gzip, head);
  let bytesRead = (): number => 0;
  let damage: string | null = null;
  let utf8 = true;

  const text = async function* (): AsyncGenerator<string> {
    let decoder = new TextDecoder(encoding, { fatal: true });
    const decoded = (bytes?: Buffer): string => {
      try {
        return decoder.decode(bytes, { stream: bytes !== undefined });
      } catch {
        utf8 = false;
        decoder = new TextDecoder(encoding);
        return bytes === undefined ? '\uFFFD' : decoder.decode(bytes, { stream: true });
      }
    };
    const file = createReadStream(path, { highWaterMark: READ_BYTES });
    bytesRead = () => file.bytesRead;
    const stream = gzip ? gunzipped(file) : file;
    try {
      for await (const chunk of stream) yield decoded(chunk as Buffer);
      yield decoded();
    } catch (error) {
      if (!gzip || !isZlibError(error)) throw error;
      damage = `the gzip data is cut short or damaged after ${file.bytesRead} of ${size} bytes (${error.code})`;
    }
  };

  const chunks = async function* (): AsyncGenerator<string> {
    if (content.kind === 'text') yield* text();
    if (content.kind === 'html page') {
      yield* htmlLibraryData(text(), (what) => {
        damage ??= what;
      });
    }
  };

  const rows = async function* (): AsyncGenerator<SheetRow> {
    if (content.kind !== 'spreadsheet') return;
    try {
      for await (const row of xlsxRows(path, (share) => {
        bytesRead = () => Math.min(size, Math.round(share * size));
      }))
        yield row;
    } catch (error) {
      damage = `the workbook ${workbookFault(error)}`;
    }
  };

  return {
    path,
    bytesTotal: size,
    bytesRead: () => bytesRead(),
    damage: () => damage,
    isUtf8: () => utf8,
    content,
    chunks,
    rows,
  };
};

const contentOf = async (path: string, gzip: boolean, head: Buffer): Promise<SourceContent> => {
  const content = contentKindOf(head);
  if (content.kind !== 'zip archive') return content;
  if (gzip) return { kind: 'other', is: 'is a ZIP archive inside gzip data', advice: 'unpack it' };
  return archiveContent(path);
};

const headOf = async (path: string, gzip: boolean): Promise<Buffer> => {
  const file = createReadStream(path, { highWaterMark: HEAD_READ_BYTES });
  const parts: Buffer[] = [];
  try {
    for await (const chunk of gzip ? gunzipped(file) : file) {
      parts.push(chunk as Buffer);
      if (parts.reduce((sum, part) => sum + part.length, 0) >= HEAD_BYTES) break;
    }
  } catch (error) {
    if (!isZlibError(error)) throw error;
  }
  return Buffer.concat(parts).subarray(0, HEAD_BYTES);
};

const gunzipped = (file: Readable): Readable => {
  const gunzip = createGunzip({ chunkSize: READ_BYTES });
  pipeline(file, gunzip, () => {
    // The reader of `gunzip` receives the error. `pipeline` is used only because it closes both streams.
  });
  return gunzip;
};

const isZlibError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
