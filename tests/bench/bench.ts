/** Interface of all benches: how one is run, and the results it records for the closing table. */

export interface BenchContext {
  readonly rounds: number;
  print(line: string): void;
  /** Adds a line to the closing table. */
  record(result: BenchResult): void;
}

export interface BenchResult {
  readonly bench: string;
  readonly measured: string;
  /** The value to compare with; `-` when the target is absolute. */
  readonly ceiling: string;
  readonly ratio: number | null;
  readonly target: string;
  readonly held: boolean;
}

/** Measured rounds per bench. */
export const ROUNDS_ALONE = 5;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')}/s`;
}

/** Formats the closing table: one line per measurement, and whether its target is met. */
export function closingTable(results: readonly BenchResult[]): string {
  const lines = [
    ['bench', 'measured', 'ceiling', 'ratio', 'target', ''],
    ...results.map(({ bench, measured, ceiling, ratio, target, held }) => [
      bench,
      measured,
      ceiling,
      ratio === null ? '-' : ratio.toFixed(2),
      target,
      held ? 'ok' : 'missed',
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}
