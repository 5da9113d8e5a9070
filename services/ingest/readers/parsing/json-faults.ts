import type { JsonItem } from './json-scanner.ts';
import { objectAt } from './json-value.ts';
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

/** Returns the refusal of a record without an ad id. An API error that was saved as a result page shows its message. */
export const notAnAd = (item: JsonItem & { kind: 'record' }, idName: string): RefusedRecord => {
  const message = objectAt(item.value, 'error')['message'];
  const isError = typeof message === 'string';
  return {
    kind: 'refused',
    line: item.line,
    what: isError ? `is an error response without ads: ${message}` : `is not an ad: it has no ${idName}`,
    advice: isError ? 'fetch this page again' : 'remove the record, or set the right --format',
    raw: item.raw,
    adId: null,
  };
};
