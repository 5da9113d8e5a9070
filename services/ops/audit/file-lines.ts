import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

export type FileLine = { readonly text: string; readonly ended: boolean };
export type FileSum = { bytes: number; sha256: string };

const LINE_FEED = 0x0a;

/** Yields the lines of a file; `null` for invalid UTF-8. Only line feeds end a line, because texts may hold U+2028. */
export const fileLines = async function* (path: string, sum: FileSum): AsyncGenerator<FileLine | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const hash = createHash('sha256');
  const lineOf = (bytes: Buffer, ended: boolean): FileLine | null => {
    try {
      return { text: decoder.decode(bytes), ended };
    } catch {
      return null;
    }
  };
  let parts: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sum.bytes += chunk.length;
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      yield lineOf(Buffer.concat([...parts, chunk.subarray(from, at)]), true);
      parts = [];
      from = at + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) yield lineOf(Buffer.concat(parts), false);
  sum.sha256 = hash.digest('hex');
};
