import { type JsonItem, JsonScanner } from './json-scanner.ts';
import type { Source } from './open-source.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Where in a file a fault of the whole file is reported. */
export const WHOLE_FILE_LINE = 1;

/**
 * The JSON records of a source, and what surrounds them; damage of the source itself is left to the caller.
 * `holdsRecords`: names of members that records stand in, where they are not those of ads.
 */
export async function* jsonRecords(
  source: Source,
  holdsRecords?: ReadonlySet<string>,
): AsyncGenerator<JsonItem> {
  const scanner = new JsonScanner(holdsRecords);
  let first = true;
  for await (const chunk of source.chunks()) {
    const marked = first && chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    yield* scanner.push(marked ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk);
    first = false;
  }
  yield* scanner.end();
}
