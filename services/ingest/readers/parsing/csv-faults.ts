import type { CsvItem } from './csv-rows.ts';
import { refusal, type RefusedRecord } from '../record.ts';

/** The cause is a part of every row, and so of the header. */
const ADVICE = [
  [
    'where the header has',
    'give each column a name in the header, or quote fields that contain the delimiter',
  ],
  ['columns that are both named', 'rename or remove one of the two columns'],
] as const;

export const brokenRow = (item: CsvItem & { kind: 'broken' }): RefusedRecord => {
  const advice = ADVICE.find(([what]) => item.what.includes(what))?.[1] ?? 'fix the row and import it again';
  return refusal(item, item.what, advice);
};

const COLUMNS_SHOWN = 6;

export const anotherHeader = (
  columns: readonly string[],
  missing: readonly string[],
  advice: string,
): RefusedRecord =>
  refusal(
    { line: 1, raw: null },
    `has an unexpected header: missing ${missing.join(', ')} ` +
      `(found ${columns.slice(0, COLUMNS_SHOWN).join(', ')}${columns.length > COLUMNS_SHOWN ? ', …' : ''})`,
    advice,
  );
