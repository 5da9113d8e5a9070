import type { Readable } from 'node:stream';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { type Entry, openPromise, type ZipFile } from 'yauzl';

const ENTRIES_MAX = 10_000;
/** XML text without a tag is collected in memory up to this limit. */
const TEXT_MAX_BYTES = 1024 * 1024;
/** Decompressed. A sheet with Excel's maximum of rows is smaller. */
const PART_MAX_BYTES = 4 * 1024 * 1024 * 1024;

/** Error for a workbook that cannot be read. The message is what is wrong. */
export class WorkbookFault extends Error {}

export class XlsxArchive implements Disposable {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  static async open(path: string): Promise<XlsxArchive> {
    const zip = await asFault(() => openPromise(path, { autoClose: false, validateEntrySizes: true }));
    try {
      const entries = await asFault(async () => {
        const found = new Map<string, Entry>();
        for await (const entry of zip.eachEntry()) {
          if (found.size >= ENTRIES_MAX) throw new WorkbookFault(`has more than ${ENTRIES_MAX} parts`);
          // Part names are not case-sensitive (ECMA-376 part 2).
          found.set(entry.fileName.toLowerCase(), entry);
        }
        return found;
      });
      return new XlsxArchive(zip, entries);
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  has(part: string): boolean {
    return this.#entries.has(part.toLowerCase());
  }

  names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Yields after `handlers` received a piece. Throws `WorkbookFault`, also for entities that the document declares. */
  async *parse(part: string, handlers: XmlHandlers): AsyncGenerator<{ readonly share: number }> {
    const entry = this.#entries.get(part.toLowerCase());
    if (entry === undefined) throw new WorkbookFault(`lacks the part ${part}`);
    if (entry.isEncrypted()) throw new WorkbookFault('is protected by a password');
    const stream = await asFault(() => this.#zip.openReadStreamPromise(entry));
    const parser = new SaxesParser({ xmlns: true });
    let quietBytes = 0;
    const heard = (): void => {
      quietBytes = 0;
    };
    parser.on('opentag', (tag) => {
      heard();
      handlers.open?.(tag.local, (name) => attributeOf(tag, name));
    });
    parser.on('closetag', (tag) => {
      heard();
      handlers.close?.(tag.local);
    });
    parser.on('text', (text) => handlers.text?.(text));
    parser.on('error', (error) => {
      throw new WorkbookFault(`has a part ${part} that is not XML: ${error.message}`);
    });
    let bytes = 0;
    for await (const chunk of chunksOf(stream)) {
      bytes += chunk.length;
      quietBytes += chunk.length;
      if (bytes > PART_MAX_BYTES)
        throw new WorkbookFault(`has a part ${part} of more than ${PART_MAX_BYTES} bytes`);
      parser.write(decoderOf(parser).decode(chunk, { stream: true }));
      if (quietBytes > TEXT_MAX_BYTES)
        throw new WorkbookFault(`has a text of more than ${TEXT_MAX_BYTES} bytes in its part ${part}`);
      yield { share: entry.uncompressedSize === 0 ? 1 : bytes / entry.uncompressedSize };
    }
    parser.close();
  }

  [Symbol.dispose](): void {
    this.#zip.close();
  }
}

export type XmlHandlers = {
  readonly open?: (name: string, attribute: (name: string) => string | null) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
};

export const parsePart = async (archive: XlsxArchive, part: string, handlers: XmlHandlers): Promise<void> => {
  for await (const _ of archive.parse(part, handlers)) {
    // The handlers collect the content.
  }
};

const attributeOf = (tag: SaxesTagNS, name: string): string | null => {
  const found = Object.values(tag.attributes).find((attribute) => attribute.local === name);
  return found?.value ?? null;
};

const decoders = new WeakMap<object, InstanceType<typeof TextDecoder>>();
const decoderOf = (parser: object): InstanceType<typeof TextDecoder> => {
  const decoder = decoders.get(parser) ?? new TextDecoder('utf-8');
  decoders.set(parser, decoder);
  return decoder;
};

async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw faultOf(error);
  }
}

const asFault = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    throw faultOf(error);
  }
};

/** File system errors have a code; others describe a damaged archive. */
const faultOf = (error: unknown): unknown => {
  if (error instanceof WorkbookFault || !(error instanceof Error)) return error;
  const isDamage = !('code' in error) || String(error.code).startsWith('Z_');
  return isDamage ? new WorkbookFault(`is a damaged ZIP archive: ${error.message}`) : error;
};
