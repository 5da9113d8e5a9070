import { openBigCorpus } from './reads/corpus.ts';
import type { Case } from './reads/case.ts';
import { createClient, type Measured, measure, type Times } from './reads/measure.ts';
import { readCases } from './reads/requests.ts';
import { type BenchContext, READS } from './runner/bench.ts';
import { startApi } from './runner/servers.ts';

/** Marks rows above; the worst rows have the same targets. */
const LIMIT_MS = 25;
const LIMIT_OF_TWO_FILTERS_MS = 60;
const WORST_SHOWN = 10;

/**
 * Sends one request at a time over one connection. Reads lists at the first and hundredth page, with every filter and
 * pair of filters.
 */
export const run = async (context: BenchContext<'reads'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const corpus = await openBigCorpus(resources, (line) => context.print(line));
  const { origin, pid: apiPid } = await startApi(resources, corpus);
  const client = createClient(origin, corpus.key);
  resources.defer(() => client.close());

  const only = new RegExp(READS);
  const cases = (await readCases(corpus.pool)).filter((testCase) => only.test(nameOf(testCase)));
  context.print('reads: p50 and p99 in ms over one connection, of the first page and the hundredth;');
  context.print('  then the same of the CPU time of the API and PostgreSQL, the higher of both pages');
  const line = rowFormatter(Math.max(...cases.map((testCase) => nameOf(testCase).length)));
  const measured: Measured[] = [];
  for (const testCase of cases) {
    const row = await measure(client.send, { apiPid, postmasterPid: corpus.postmasterPid }, testCase);
    measured.push(row);
    context.print(line(row));
  }
  context.print(`  the ${WORST_SHOWN} closest to their limit or furthest over it:`);
  for (const row of worstOf(measured)) context.print(`${line(row)}  ${slowestOf(row)}`);
  const pages = measured.filter(({ testCase }) => testCase.paged);
  for (const [name, rows] of [
    ['pages, at most one filter', pages.filter(({ testCase }) => testCase.filters.length < 2)],
    ['pages, two filters', pages.filter(({ testCase }) => testCase.filters.length > 1)],
    ['unpaginated responses', measured.filter(({ testCase }) => !testCase.paged)],
  ] as const) {
    for (const [figure, of] of [
      [`${name}, p99`, p99Of],
      [`${name}, p99 of CPU`, busyP99Of],
    ] as const) {
      if (rows.length > 0) context.record(figure, Math.max(...rows.map(of)));
      else context.skip(figure, 'BENCH_READS selects none');
    }
  }
};

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

/** `BUSY`: CPU time alone is over the limit, so other load is not the reason. */
const markOf = (row: Measured): string =>
  p99Of(row) <= limitOf(row.testCase)
    ? ''
    : busyP99Of(row) > limitOf(row.testCase)
      ? '  OVER BUSY'
      : '  OVER';

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
