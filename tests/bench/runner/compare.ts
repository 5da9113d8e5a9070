import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { figureOf } from '../figures.ts';
import { median, type Result } from './bench.ts';
import { createFolder } from './servers.ts';
import { alignedTable, commitOf, type Outcome } from './report.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const RUN_BENCH = 'tests/bench/runner/run-bench.ts';
const WORSE = 1.1;

/** Shares the installed packages if the lock file is equal. An older commit gets the benches of this one. */
export const cloneCommit = async (resources: AsyncDisposableStack, ref: string): Promise<string> => {
  const clone = join(await createFolder(resources), 'clone');
  const run = (command: string, ...words: string[]): void =>
    void execFileSync(command, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const commit = execFileSync('git', ['-C', ROOT, 'rev-parse', '--verify', `${ref}^{commit}`], {
    encoding: 'utf8',
  }).trim();
  run('git', 'clone', '--quiet', '--shared', '--no-checkout', ROOT, clone);
  run('git', '-C', clone, 'checkout', '--quiet', '--detach', commit);
  const lockFile = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockFile(clone) === lockFile(ROOT))
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  else run('npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', clone);
  if (existsSync(join(ROOT, '.cache'))) symlinkSync(join(ROOT, '.cache'), join(clone, '.cache'));
  if (!existsSync(join(clone, RUN_BENCH))) {
    rmSync(join(clone, 'tests/bench'), { recursive: true });
    cpSync(join(ROOT, 'tests/bench'), join(clone, 'tests/bench'), { recursive: true });
  }
  return clone;
};

const valuesOf = (passes: readonly (readonly Outcome[])[], { bench, figure }: Result) =>
  passes.map((outcomes) =>
    outcomes
      .flatMap(({ results }) => results)
      .find((result) => result.bench === bench && result.figure === figure),
  );

/** Marks figures that are worse by more than 10 %. */
const comparisonTable = (
  here: readonly (readonly Outcome[])[],
  there: readonly (readonly Outcome[])[],
  names: readonly [string, string],
): string => {
  const rows = (here[0] ?? [])
    .flatMap(({ results }) => results)
    .map((result) => {
      const unit = figureOf(result.bench, result.figure)?.unit ?? 's';
      const [ours, theirs] = [valuesOf(here, result), valuesOf(there, result)];
      const ratioOf = (pick: (one: Result) => number | null): number =>
        median(
          ours.flatMap((own, pass) => {
            const other = theirs[pass];
            const [a, b] = [own && pick(own), other && pick(other)];
            return typeof a === 'number' && typeof b === 'number' && b !== 0 ? [a / b] : [];
          }),
        );
      const middle = (values: typeof ours): string => {
        const value = median(values.flatMap((one) => one?.measured ?? []));
        return Number.isNaN(value)
          ? '-'
          : `${Number(value.toPrecision(4))}${unit === '/s' ? '' : ' '}${unit}`;
      };
      const ratio = ratioOf(({ measured }) => measured);
      const toCeiling = ratioOf((one) => one.ratio);
      // Other load affects both sides of a ratio to the ceiling.
      const change = Number.isNaN(toCeiling) ? ratio : toCeiling;
      const worse = unit === '/s' ? 1 / change : change;
      const shown = (value: number): string => (Number.isNaN(value) ? '-' : value.toFixed(2));
      return [
        result.bench,
        result.figure,
        middle(ours),
        middle(theirs),
        shown(ratio),
        shown(toCeiling),
        worse > WORSE ? 'worse' : worse < 1 / WORSE ? 'better' : '',
      ];
    });
  return alignedTable([['bench', 'figure', ...names, 'ratio', 'ratio to ceiling', ''], ...rows]);
};

/** Every second pass begins with the other commit. Returns whether all benches of this commit ended. */
export const compare = async (
  ref: string,
  benches: readonly string[],
  passes: number,
  runBench: (root: string, bench: string) => Promise<Outcome>,
): Promise<boolean> => {
  await using resources = new AsyncDisposableStack();
  const other = await cloneCommit(resources, ref);
  const here: Outcome[][] = Array.from({ length: passes }, () => []);
  const there: Outcome[][] = Array.from({ length: passes }, () => []);
  for (const bench of benches) {
    for (let pass = 0; pass < passes; pass += 1) {
      const sides = [
        async () => here[pass]?.push(await runBench(ROOT, bench)),
        async () => there[pass]?.push(await runBench(other, bench)),
      ];
      for (const run of pass % 2 === 0 ? sides : sides.toReversed()) await run();
    }
  }
  const names = [commitOf(ROOT), commitOf(other).replace(' with changes', ', with these benches')] as const;
  console.log(`\n${comparisonTable(here, there, names)}`);
  for (const [name, side] of [[names[0], here] as const, [names[1], there] as const]) {
    const failed = new Set(side.flat().flatMap((outcome) => (outcome.failed ? [outcome.bench] : [])));
    if (failed.size > 0)
      console.log(`Benches of ${name} that did not reach their end: ${[...failed].join(', ')}`);
  }
  return here.flat().every(({ failed }) => !failed);
};
