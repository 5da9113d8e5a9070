import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { contentKindOf, encodingOf, HEAD_BYTES, type SourceContent } from '../content/content-kind.ts';
import { htmlLibraryData } from '../content/html-library-data.ts';
import { archiveContent, type SheetRow, workbookFault, xlsxRows } from '../content/xlsx.ts';

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const READ_BYTES = 256 * 1024;
const NO_BYTES = Buffer.alloc(0);
/** In place of bytes that are not UTF-8. A text may have it itself. */
const REPLACED = '\uFFFD';
const REPLACED_IN_LATIN_1 = '\u00EF\u00BF\u00BD';
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

export const openSource = async (path: string): Promise<Source> => {
  const { size } = await stat(path);
  const { gzip, head } = await readHead(path);
  const encoding = encodingOf(head);
  const content = await contentOf(path, gzip, head);
  let bytesRead = (): number => 0;
  let damage: string | null = null;
  let utf8 = true;

  const text = async function* (): AsyncGenerator<string> {
    const decode = decoderFor(encoding);
    let tail: Buffer = NO_BYTES;
    const decoded = (bytes: Buffer): string => {
      const chunk = decode(bytes);
      if (utf8 && chunk.includes(REPLACED)) {
        // A character across two chunks has up to two of its bytes in the former one.
        const encoded = Buffer.concat([tail, bytes]).toString('latin1');
        utf8 = chunk.split(REPLACED).length <= encoded.split(REPLACED_IN_LATIN_1).length;
      }
      tail = bytes.subarray(-2);
      return chunk;
    };
    const file = createReadStream(path, { highWaterMark: READ_BYTES });
    bytesRead = () => file.bytesRead;
    const stream = gzip ? gunzipped(file) : file;
    try {
      for await (const chunk of stream) yield decoded(chunk as Buffer);
      yield decoded(NO_BYTES);
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

const readHead = async (path: string): Promise<{ readonly gzip: boolean; readonly head: Buffer }> => {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_READ_BYTES), 0, HEAD_READ_BYTES, 0);
  const start = buffer.subarray(0, bytesRead);
  const gzip = start[0] === GZIP_MAGIC[0] && start[1] === GZIP_MAGIC[1];
  try {
    const head = gzip ? gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH }) : start;
    return { gzip, head: head.subarray(0, HEAD_BYTES) };
  } catch (error) {
    if (!isZlibError(error)) throw error;
    return { gzip, head: Buffer.alloc(0) };
  }
};

/** No bytes end the text. The byte order mark is left out. */
const decoderFor = (encoding: ReturnType<typeof encodingOf>): ((bytes: Buffer) => string) => {
  const wide = new TextDecoder(encoding);
  if (encoding !== 'utf-8') return (bytes) => wide.decode(bytes, { stream: bytes.length > 0 });
  // Faster than a TextDecoder that streams, and ASCII takes half the memory.
  const decoder = new StringDecoder('utf8');
  let isFirst = true;
  return (bytes) => {
    const text = bytes.length > 0 ? decoder.write(bytes) : decoder.end();
    const chunk = isFirst ? text.replace(/^\uFEFF/, '') : text;
    isFirst = false;
    return chunk;
  };
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
