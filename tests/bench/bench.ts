/** What every bench shares: how it is run, and what it leaves for the closing table. */

export interface BenchContext {
  readonly rounds: number;
  print(line: string): void;
  /** A line of the closing table. */
  record(result: BenchResult): void;
}

export interface BenchResult {
  readonly bench: string;
  readonly measured: string;
  /** What it is compared with; `-` where the target is absolute. */
  readonly ceiling: string;
  readonly ratio: number | null;
  readonly target: string;
  readonly held: boolean;
}

/** Rounds of a bench that is run by itself. */
export const ROUNDS_ALONE = 5;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')}/s`;
}

/** The closing table: one line a measurement, and whether its target holds. */
export function closingTable(results: readonly BenchResult[]): string {
  const lines = [
    ['bench', 'measured', 'ceiling', 'ratio', 'target', ''],
    ...results.map(({ bench, measured, ceiling, ratio, target, held }) => [
      bench,
      measured,
      ceiling,
      ratio === null ? '-' : ratio.toFixed(2),
      target,
      held ? 'ok' : 'below',
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}
