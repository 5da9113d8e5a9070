import { freePort } from '#deploy/local/os/ports.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { type BenchContext, READS, ROUNDS } from './bench.ts';
import { openBigCorpus } from './reads/corpus.ts';
import { type Measured, measure, createClient, type Times } from './reads/measure.ts';
import type { Case } from './reads/case.ts';
import { readCases } from './reads/requests.ts';

const API = 'services/api/main.ts';
/**
 * Maximum p99 of a page in ms: with at most one filter, and with two. Unpaginated responses are reported without a
 * limit.
 */
const LIMIT_MS = 25;
const LIMIT_OF_TWO_FILTERS_MS = 60;
const WORST_SHOWN = 10;

/**
 * Requests every list, and the most expensive single reads, over a million ads, 200,000 brands, 500,000 landing
 * pages and 500,000 creative files. The API runs as in production and is called over one connection, one request at
 * a time. Lists are read at the first and the hundredth page (the last one if the list is shorter): without filter,
 * with every filter, and with every pair of filters. The corpus is kept between runs (see `reads/corpus.ts`).
 */
export async function run(context: BenchContext, only = new RegExp(READS)): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const corpus = await openBigCorpus(resources, (line) => context.print(line));
  const port = await freePort();
  const api = startProcess(API, {
    ...corpus.environment,
    API_PORT: String(port),
    CURSOR_SECRET: 'a secret for benches only',
    LOG_LEVEL: 'warn',
  });
  resources.defer(() => api.kill());
  const servers = { apiPid: api.child.pid ?? 0, postmasterPid: corpus.postmasterPid };
  const client = createClient(`http://127.0.0.1:${port}`, corpus.keys);
  resources.defer(() => client.close());
  await untilAnswers(`http://127.0.0.1:${port}/v1/openapi.json`);

  const cases = (await readCases(corpus.pool)).filter((testCase) => only.test(nameOf(testCase)));
  context.print('reads: p50 and p99 in ms over one connection, of the first page and the hundredth;');
  context.print('  then the same of the CPU time of the API and PostgreSQL, the higher of both pages');
  const line = rowFormatter(Math.max(...cases.map((testCase) => nameOf(testCase).length)));
  const measured: Measured[] = [];
  for (const testCase of cases) {
    const row = await measure(client.send, servers, testCase);
    measured.push(row);
    context.print(line(row));
  }
  context.print(`  the ${WORST_SHOWN} closest to their limit or furthest over it:`);
  for (const row of worstOf(measured)) context.print(`${line(row)}  ${slowestOf(row)}`);
  const pages = measured.filter(({ testCase }) => testCase.paged);
  for (const [name, limitMs, of] of [
    ['reads: pages, no filter or one', LIMIT_MS, pages.filter(({ testCase }) => testCase.filters.length < 2)],
    [
      'reads: pages, two filters',
      LIMIT_OF_TWO_FILTERS_MS,
      pages.filter(({ testCase }) => testCase.filters.length > 1),
    ],
    ['reads: unpaginated responses', null, measured.filter(({ testCase }) => !testCase.paged)],
  ] as const) {
    if (of.length === 0) continue;
    for (const [what, worst] of [
      [name, Math.max(...of.map(p99Of))],
      [`${name}, CPU time`, Math.max(...of.map(busyP99Of))],
    ] as const) {
      context.record({
        bench: what,
        measured: `${worst.toFixed(1)} ms`,
        ceiling: '-',
        ratio: null,
        target: limitMs === null ? 'none' : `p99 <= ${limitMs} ms`,
        held: limitMs === null || worst <= limitMs,
      });
    }
  }
}

const READY_LIMIT_MS = 120_000;

async function untilAnswers(url: string): Promise<void> {
  const limitMs = Date.now() + READY_LIMIT_MS;
  while (!(await fetch(url).catch(() => null))?.ok) {
    if (Date.now() > limitMs) throw new Error(`${url} was not ready in time.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const nameOf = ({ endpoint, filters }: Case): string => `${endpoint}  ${filters.join(' + ') || '-'}`;
const p99Of = ({ first, hundredth }: Measured): number => Math.max(first.p99Ms, hundredth?.p99Ms ?? 0);
const limitOf = ({ filters }: Case): number => (filters.length > 1 ? LIMIT_OF_TWO_FILTERS_MS : LIMIT_MS);

const busyP99Of = ({ first, hundredth }: Measured): number =>
  Math.max(first.busyP99Ms, hundredth?.busyP99Ms ?? 0);

const column = (p50Ms: number | undefined, p99Ms: number | undefined): string =>
  [p50Ms, p99Ms].map((ms) => (ms?.toFixed(1) ?? '-').padStart(8)).join('');
const elapsed = (times: Times | null): string => column(times?.p50Ms, times?.p99Ms);
const busy = (row: Measured): string =>
  column(Math.max(row.first.busyP50Ms, row.hundredth?.busyP50Ms ?? 0), busyP99Of(row));

/**
 * Marks a row over its limit. `BUSY` means that its CPU time alone is over the limit, so that other load on the
 * machine is not the reason.
 */
const markOf = (row: Measured): string =>
  p99Of(row) <= limitOf(row.testCase)
    ? ''
    : busyP99Of(row) > limitOf(row.testCase)
      ? '  OVER BUSY'
      : '  OVER';

/** Returns a function that formats one row. */
const rowFormatter =
  (width: number) =>
  (row: Measured): string =>
    `  ${nameOf(row.testCase).padEnd(width)}${elapsed(row.first)}${elapsed(row.hundredth)}${busy(row)}${markOf(row)}`;

const worstOf = (measured: readonly Measured[]): readonly Measured[] =>
  measured
    .toSorted((a, b) => p99Of(b) / limitOf(b.testCase) - p99Of(a) / limitOf(a.testCase))
    .slice(0, WORST_SHOWN);

function slowestOf({ first, hundredth }: Measured): string {
  const times = hundredth !== null && hundredth.p99Ms > first.p99Ms ? hundredth : first;
  return times.slowest.replace(/cursor=[^&]+/, 'cursor=…').slice(0, 160);
}

if (import.meta.main) {
  const only = new RegExp(process.argv[2] ?? READS);
  await run({ rounds: ROUNDS, print: (line) => console.log(line), record: () => undefined }, only);
  process.exit(0);
}
