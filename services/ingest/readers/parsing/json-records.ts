import type { JsonItem, RecordPlaces } from './json-item.ts';
import { JsonScanner } from './json-scanner.ts';
import type { Source } from './open-source.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export type JsonEntry = JsonItem & {
  /** From 1. An envelope has the number of its last record. */
  readonly number: number;
};

export const WHOLE_FILE_LINE = 1;

export async function* jsonRecords(source: Source, places: RecordPlaces): AsyncGenerator<JsonEntry> {
  const scanner = new JsonScanner(places);
  let first = true;
  let number = 0;
  const numbered = (item: JsonItem): JsonEntry => {
    if (item.kind !== 'envelope') number += 1;
    return { ...item, number };
  };
  for await (const chunk of source.chunks()) {
    const marked = first && chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    for (const item of scanner.push(marked ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk))
      yield numbered(item);
    first = false;
  }
  for (const item of scanner.end()) yield numbered(item);
}
