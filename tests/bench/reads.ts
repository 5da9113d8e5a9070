import { freePort } from '#deploy/local/os/ports.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { type BenchContext, ROUNDS_ALONE } from './bench.ts';
import { openBigCorpus } from './reads/corpus.ts';
import { type Measured, measure, openAsking, type Times } from './reads/measure.ts';
import { type Case, casesOf } from './reads/requests.ts';

const API = 'services/api/main.ts';
/** The 99th percentile of a page: with one filter at most, and with two. What has no pages is shown beside. */
const LIMIT_MS = 25;
const LIMIT_OF_TWO_FILTERS_MS = 60;
const WORST_SHOWN = 10;

/**
 * Every list, and the single reads that gather most, over a million ads, 200,000 brands, 500,000 landing pages and
 * 500,000 creative files: asked of the API as it runs in production, over one connection, one request after the other.
 * First and hundredth page (the last, where a list is shorter), without filter, with every filter, with every two.
 * The corpus is kept between runs (see `reads/corpus.ts`).
 */
export async function run(context: BenchContext, only: RegExp | null = null): Promise<void> {
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
  const asking = openAsking(`http://127.0.0.1:${port}`, corpus.keys);
  resources.defer(() => asking.close());
  await untilAnswers(`http://127.0.0.1:${port}/v1/openapi.json`);

  const cases = (await casesOf(corpus.pool)).filter((asked) => only === null || only.test(nameOf(asked)));
  context.print('reads: p50 and p99 in ms over one connection, of the first page and the hundredth;');
  context.print('  then of the processor time that the API and PostgreSQL took, the greater of both pages');
  const line = lineOf(Math.max(...cases.map((asked) => nameOf(asked).length)));
  const measured: Measured[] = [];
  for (const asked of cases) {
    const row = await measure(asking.ask, servers, asked);
    measured.push(row);
    context.print(line(row));
  }
  context.print(`  the ${WORST_SHOWN} nearest to their limit, or furthest over it:`);
  for (const row of worstOf(measured)) context.print(`${line(row)}  ${slowestOf(row)}`);
  const pages = measured.filter(({ asked }) => asked.paged);
  for (const [name, limitMs, of] of [
    ['reads: pages, no filter or one', LIMIT_MS, pages.filter(({ asked }) => asked.filters.length < 2)],
    [
      'reads: pages, two filters',
      LIMIT_OF_TWO_FILTERS_MS,
      pages.filter(({ asked }) => asked.filters.length > 1),
    ],
    ['reads: whole answers', null, measured.filter(({ asked }) => !asked.paged)],
  ] as const) {
    for (const [what, worst] of [
      [name, Math.max(...of.map(p99Of))],
      [`${name}, processor time`, Math.max(...of.map(busyP99Of))],
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

const READY_LIMIT_MS = 30_000;

async function untilAnswers(url: string): Promise<void> {
  const limitMs = Date.now() + READY_LIMIT_MS;
  while (!(await fetch(url).catch(() => null))?.ok) {
    if (Date.now() > limitMs) throw new Error(`${url} did not answer in time.`);
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
const wall = (times: Times | null): string => column(times?.p50Ms, times?.p99Ms);
const busy = (row: Measured): string =>
  column(Math.max(row.first.busyP50Ms, row.hundredth?.busyP50Ms ?? 0), busyP99Of(row));

/** What is over its limit; `BUSY`: also by what it computes, and not for waiting for others on the machine. */
const markOf = (row: Measured): string =>
  p99Of(row) <= limitOf(row.asked) ? '' : busyP99Of(row) > limitOf(row.asked) ? '  OVER BUSY' : '  OVER';

/** A line a row. */
const lineOf =
  (width: number) =>
  (row: Measured): string =>
    `  ${nameOf(row.asked).padEnd(width)}${wall(row.first)}${wall(row.hundredth)}${busy(row)}${markOf(row)}`;

const worstOf = (measured: readonly Measured[]): readonly Measured[] =>
  measured
    .toSorted((a, b) => p99Of(b) / limitOf(b.asked) - p99Of(a) / limitOf(a.asked))
    .slice(0, WORST_SHOWN);

function slowestOf({ first, hundredth }: Measured): string {
  const times = hundredth !== null && hundredth.p99Ms > first.p99Ms ? hundredth : first;
  return times.slowest.replace(/cursor=[^&]+/, 'cursor=…').slice(0, 160);
}

if (import.meta.main) {
  const only = process.argv[2] === undefined ? null : new RegExp(process.argv[2]);
  await run({ rounds: ROUNDS_ALONE, print: (line) => console.log(line), record: () => undefined }, only);
  process.exit(0);
}
