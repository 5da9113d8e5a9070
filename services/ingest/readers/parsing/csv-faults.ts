import type { CsvItem } from './csv-rows.ts';
import type { RefusedRecord } from '../record.ts';

export const brokenRow = (item: CsvItem & { kind: 'broken' }): RefusedRecord => ({
  kind: 'refused',
  line: item.line,
  what: item.what,
  advice: 'mend the row and feed it again',
  raw: item.raw,
  adId: null,
});

const COLUMNS_SHOWN = 6;

export const anotherHeader = (
  columns: readonly string[],
  missing: readonly string[],
  advice: string,
): RefusedRecord => ({
  kind: 'refused',
  line: 1,
  what:
    `has another header: the column ${missing.join(', ')} is missing ` +
    `(it has ${columns.slice(0, COLUMNS_SHOWN).join(', ')}${columns.length > COLUMNS_SHOWN ? ', …' : ''})`,
  advice,
  raw: null,
  adId: null,
});
