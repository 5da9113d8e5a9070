import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FIGURES } from './figures.ts';
import type { Result } from './runner/bench.ts';
import { compare } from './runner/compare.ts';
import { closingTable, commitOf, loadOfMachine, type Outcome, reportOf } from './runner/report.ts';

/** `--report` writes RESULTS.md. `--compare REF` runs this commit and another one in turn, `--passes` times. */
const ROOT = resolve(import.meta.dirname, '../..');
const REPORT = join(import.meta.dirname, 'RESULTS.md');
/** The longest bench fills the big corpus first, on a slow machine for a quarter of an hour. */
const BENCH_LIMIT_MS = 45 * 60_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    report: { type: 'boolean', default: false },
    compare: { type: 'string' },
    passes: { type: 'string', default: '2' },
  },
});
const unknown = positionals.filter((name) => !(name in FIGURES));
if (unknown.length > 0) {
  console.error(`Unknown bench: ${unknown.join(', ')}. Available: ${Object.keys(FIGURES).join(', ')}.`);
  process.exit(2);
}
const benches = positionals.length > 0 ? positionals : Object.keys(FIGURES);

let running: ChildProcess | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    running?.kill('SIGTERM');
    process.exit(130);
  });
}

/** `root`: folder of the commit to measure. */
const runBench = async (root: string, bench: string): Promise<Outcome> => {
  const startMs = performance.now();
  const results: Result[] = [];
  const child = fork(join(root, 'tests/bench/runner/run-bench.ts'), [bench], { cwd: root });
  running = child;
  child.on('message', (result: Result | null) => void (result && results.push(result)));
  const limit = setTimeout(() => child.kill('SIGTERM'), BENCH_LIMIT_MS);
  // The channel closes when the last figure has been read from it.
  const allRead = once(child, 'disconnect');
  const [code] = (await once(child, 'exit')) as [number | null];
  await allRead;
  clearTimeout(limit);
  running = null;
  const seconds = (performance.now() - startMs) / 1_000;
  console.log(`${bench} ${code === 0 ? 'ended' : 'FAILED'} after ${seconds.toFixed(0)} s\n`);
  return { bench, results, seconds, failed: code !== 0 };
};

if (options.compare !== undefined) {
  process.exit((await compare(options.compare, benches, Number(options.passes), runBench)) ? 0 : 1);
}
const load = loadOfMachine();
const outcomes: Outcome[] = [];
for (const bench of benches) {
  outcomes.push(await runBench(ROOT, bench));
  // After each bench, so that an interrupted run leaves a report of those that ended.
  if (options.report) await writeFile(REPORT, reportOf(outcomes, commitOf(ROOT), load));
}
console.log(closingTable(outcomes));
if (options.report) console.log(`\nThe report is in ${REPORT}.`);
process.exit(outcomes.some(({ failed }) => failed) ? 1 : 0);
