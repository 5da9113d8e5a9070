import type { JsonItem } from './json-item.ts';
import { type JsonObject, objectAt } from '#domain/shapes/json-object.ts';
import { differenceFrom } from '../shapes/nearest-shape.ts';
import type { RefusedRecord } from '../record.ts';

/** Returns the refusal of a record that is not valid JSON. */
export const brokenJson = (item: JsonItem & { kind: 'broken' }): RefusedRecord => ({
  kind: 'refused',
  line: item.line,
  what: item.what,
  advice: item.raw === '' ? 'fetch or export the file again' : 'fix the record and import it again',
  raw: item.raw === '' ? null : item.raw,
  adId: null,
});

type ReadRecord = {
  readonly line: number;
  readonly number: number;
  readonly raw: string;
  readonly value: JsonObject;
};

/** Returns the refusal of a record without an ad id. An API error that was saved as a result page shows its message. */
export const notAnAd = (record: ReadRecord, format: string): RefusedRecord => {
  const message = objectAt(record.value, 'error')['message'];
  if (typeof message !== 'string') return unknownShape(record, format, null);
  return {
    kind: 'refused',
    line: record.line,
    what: `is an error response without ads: ${message}`,
    advice: 'fetch this page again',
    raw: record.raw,
    adId: null,
  };
};

/**
 * Returns the refusal of a record that is of another shape than the file's format. `difference`: by default, the nearest
 * shape and the members that differ.
 */
export const unknownShape = (
  { line, number, raw, value }: ReadRecord,
  format: string,
  adId: string | null,
  difference = differenceFrom(value, format),
): RefusedRecord => ({
  kind: 'refused',
  line,
  what: `record ${number} has an unknown shape; ${difference}`,
  advice: UNKNOWN_SHAPE_ADVICE,
  raw,
  adId,
});

/** Returns the refusal of a record with content that would not be read. `where`: its description. */
export const unreadContent = (
  record: ReadRecord,
  format: string,
  adId: string | null,
  where: string,
): RefusedRecord => unknownShape(record, format, adId, `${where}; the nearest known shape is ${format}`);

export const UNKNOWN_SHAPE_ADVICE =
  'export it in a known shape (see services/ingest/FORMATS.md), or describe its members with --mapping FILE';
