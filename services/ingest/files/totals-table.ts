import { counted } from './file-contents.ts';
import { shortenedText } from './file-notes.ts';
import { type FileTotals, type NoteList, SUMMED } from './ingest-files.ts';

const HEADINGS = [
  'file',
  'records',
  'ads',
  'scans',
  ...SUMMED.map((name) => name.replace('_', ' ')),
  'events',
  'refused',
];

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

/** The contents of each file appear in a dry run only. */
export const totalsText = (all: readonly FileTotals[], isDryRun: boolean): string =>
  [
    ...(isDryRun ? all.flatMap(contentsOf) : []),
    totalsTable(all),
    ...all.flatMap(({ file, shortened, shortenedAds }) =>
      list(
        `${file}: ${counted(shortenedAds.count, 'ad')} shortened (${shortenedText(shortened)})`,
        shortenedAds,
      ),
    ),
    ...all.flatMap(({ file, noted, leftOut }) => [
      ...list(`${file}: read, with a part unknown or corrected: ${reasonsOf(noted)}`, noted),
      ...list(`${file}: left out: ${reasonsOf(leftOut)}`, leftOut),
    ]),
    ...all.flatMap(({ file, notTaken }) =>
      list(`${file}: ${notTaken.count.toLocaleString('en')} not taken`, notTaken),
    ),
    ...all
      .filter(({ refusedFile }) => refusedFile !== null)
      .map(
        ({ refusedFile }) => `refused records: ${refusedFile} (fix it and import it with the same options)`,
      ),
    ...(isDryRun ? [hasLists(all) ? DRY_RUN.withLists : DRY_RUN.withoutFiles] : []),
  ].join('\n');

const DRY_RUN = {
  withoutFiles: 'Dry run: nothing was recorded or written.',
  withLists: 'Dry run: nothing was recorded, and only these lists were written.',
} as const;
const hasLists = (all: readonly FileTotals[]): boolean =>
  all.some(({ notTaken, shortenedAds, noted, leftOut }) =>
    [notTaken, shortenedAds, noted, leftOut].some(({ path }) => path !== null),
  );

const contentsOf = ({ file, format, contents }: FileTotals): readonly string[] =>
  format === null ? [] : [`${file}: ${format}`, ...contents.lines().map((line) => `  ${line}`)];

const reasonsOf = ({ reasons }: NoteList): string =>
  [...reasons].map(([reason, count]) => `${count.toLocaleString('en')} ${reason}`).join(', ');

const list = (heading: string, { shown, count, path, reasons }: NoteList): readonly string[] => {
  if (count === 0) return reasons.size === 0 ? [] : [heading];
  const more = count - shown.length;
  const where = path === null ? 'add --refused-dir FOLDER to write all to a file' : `all are in ${path}`;
  const others = `  … and ${more.toLocaleString('en')} more; ${where}`;
  return [`${heading}:`, ...shown.map((line) => `  ${line}`), ...(more === 0 ? [] : [others])];
};
