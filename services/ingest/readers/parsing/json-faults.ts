import type { JsonItem } from './json-scanner.ts';
import { objectAt } from './json-value.ts';
import type { RefusedRecord } from '../record.ts';

export const brokenJson = (item: JsonItem & { kind: 'broken' }): RefusedRecord => ({
  kind: 'refused',
  line: item.line,
  what: item.what,
  advice: item.raw === '' ? 'fetch or export the file again' : 'mend the record and feed it again',
  raw: item.raw === '' ? null : item.raw,
  adId: null,
});

/** A record without the member that makes it an ad; an error answer saved as if it were a page says so itself. */
export const notAnAd = (item: JsonItem & { kind: 'record' }, idName: string): RefusedRecord => {
  const message = objectAt(item.value, 'error')['message'];
  const isError = typeof message === 'string';
  return {
    kind: 'refused',
    line: item.line,
    what: isError ? `is an error answer, not ads: ${message}` : `is not an ad: it has no ${idName}`,
    advice: isError ? 'fetch this page again' : 'take the record out, or name the right --format',
    raw: item.raw,
    adId: null,
  };
};
