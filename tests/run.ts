import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { CACHE } from '#deploy/local/stack/settings.ts';
import { runVitest } from './run-vitest.ts';

/**
 * `npm test`: runs every test of every project. The report of vitest is printed as it comes. The very last line is
 * `N passed, N failed`, with `, N skipped` when some were skipped. Arguments are passed to vitest.
 */
const Report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  numTodoTests: z.int(),
  testResults: z.array(
    z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) }),
  ),
});

const folder = await mkdtemp(join(tmpdir(), 'test-report-'));
try {
  const reportFile = join(folder, 'report.json');
  const words = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  // Hundreds of processes load the same code. A shared compile cache saves a third of a second in each.
  const { exitCode } = await runVitest([...words, ...process.argv.slice(2)], {
    NODE_COMPILE_CACHE: join(CACHE, 'node'),
  });
  process.exitCode = summarise(await readReport(reportFile), exitCode);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function readReport(file: string): Promise<z.infer<typeof Report> | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : Report.parse(JSON.parse(text));
}

/** Prints the last line and returns the exit code. */
function summarise(report: z.infer<typeof Report> | null, exitCode: number): number {
  const passed = report?.numPassedTests ?? 0;
  // A file that failed to load counts as one failure, although none of its tests ran.
  const unloaded =
    report?.testResults.filter(
      (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    ).length ?? 0;
  const counted = (report?.numFailedTests ?? 0) + unloaded;
  // An error outside of any test, or a run without tests, must not end in "0 failed".
  const failed = counted === 0 && (exitCode !== 0 || passed === 0) ? 1 : counted;
  const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 ? exitCode || 1 : 0;
}
