import { type FileTotals, SUMMED } from './ingest-files.ts';

const HEADINGS = [
  'file',
  'records',
  'ads',
  'scans',
  ...SUMMED.map((name) => name.replace('_', ' ')),
  'events',
  'refused',
];

/** Formats the totals of a run as a table: one line per file and a last line with the sums. */
export const totalsTable = (all: readonly FileTotals[]): string => {
  const rows = all.map((totals) => [totals.file, ...figuresOf(totals)]);
  const sums = figuresOf().map((_, column) =>
    all.reduce((sum, totals) => sum + (figuresOf(totals)[column] ?? 0), 0),
  );
  const lines = [HEADINGS, ...rows, [`${all.length} ${all.length === 1 ? 'file' : 'files'}`, ...sums]].map(
    (row) => row.map(String),
  );
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
};

const figuresOf = (totals?: FileTotals): readonly number[] => [
  totals?.records ?? 0,
  totals?.ads ?? 0,
  totals?.scans ?? 0,
  ...SUMMED.map((name) => totals?.scanned[name] ?? 0),
  totals?.events ?? 0,
  totals?.refused ?? 0,
];
