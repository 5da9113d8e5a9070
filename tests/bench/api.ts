import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '#deploy/local/os/ports.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { type BenchCorpus, fillRadar, recordCorpus } from './api/corpus.ts';
import type { Load, LoadResult } from './api/load.ts';
import { type BenchContext, median, perSecond, ROUNDS, scaled } from './bench.ts';
import { cpuTimes, usedSince } from './cpu-time.ts';
import { type BenchServers, openPlainPool, startServers } from './servers.ts';

const RADAR_ROWS = scaled(5_000_000, 4_000);
const WINDOW_MS = scaled(1_500, 50);
const CONNECTIONS = 32;
const POOL_CLIENTS = 4;
const UNKNOWN_SLUGS = 300;
const API = 'services/api/main.ts';
const REFERENCE = 'tests/bench/api/reference.ts';
const LOAD = fileURLToPath(new URL('./api/load.ts', import.meta.url));

/** A server under load, and the requests to send to it. */
interface Side {
  readonly pid: number;
  readonly load: Omit<Load, 'connections' | 'durationMs'>;
}

interface Comparison {
  readonly name: string;
  readonly api: Side;
  readonly ceiling: Side;
  /** Minimum ratio of the API's requests per second to those of the ceiling. */
  readonly target: number;
}

interface Sample extends LoadResult {
  readonly perSecond: number;
  readonly serverUs: number;
  readonly databaseUs: number;
}

interface Pair {
  readonly api: Sample;
  readonly ceiling: Sample;
}

/**
 * Compares the API with a bare server over the same database. Both run as separate processes, and a third process
 * sends the load. The API runs as in production, except that it logs no line per request; the bare server does not
 * log either.
 */
export async function run(context: BenchContext, radarRows = RADAR_ROWS): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const corpus = await recordCorpus(servers, pool);
  const filledMs = performance.now();
  await fillRadar(pool, radarRows);
  context.print(
    `api: compared with a bare Fastify and pg, ${CONNECTIONS} connections; medians of paired rounds. ` +
      `${radarRows.toLocaleString('en')} radar rows created in ${Math.round((performance.now() - filledMs) / 1000)} s`,
  );
  const sides = await startSides(servers, corpus, resources);
  const loader = fork(LOAD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  resources.defer(() => void loader.kill('SIGKILL'));
  const measure = (side: Side, connections: number): Promise<Sample> =>
    measureSide(servers, loader, side, connections);

  const { brand, brandBare, page, pages, pageBare, unknown, radar, selectOne } = sides;
  const comparisons: readonly Comparison[] = [
    { name: 'api: one brand', api: brand, ceiling: brandBare, target: 1.4 },
    { name: 'api: page of 20 brands', api: page, ceiling: pageBare, target: 1.8 },
    // Concurrent requests ask for different pages, so no two requests share one read.
    { name: 'api: pages of 20, in rotation', api: pages, ceiling: pageBare, target: 1 },
    { name: 'api: 404s compared with 200s', api: unknown, ceiling: brand, target: 1 },
  ];
  for (const { name, api, ceiling, target } of comparisons) {
    const pairs = await measurePairs(context.rounds, api, ceiling, (side) => measure(side, CONNECTIONS));
    const ratio = median(pairs.map((pair) => pair.api.perSecond / pair.ceiling.perSecond));
    describe(context, name, pairs, ratio);
    context.record({
      bench: name,
      measured: perSecond(median(pairs.map((pair) => pair.api.perSecond))),
      ceiling: perSecond(median(pairs.map((pair) => pair.ceiling.perSecond))),
      ratio,
      target: `>= ${target}`,
      held: ratio >= target,
    });
  }
  for (const [what, connections] of [
    ['alone', 1],
    ['under load', CONNECTIONS],
  ] as const) {
    const name = `api: radar page, ${what}`;
    const pairs = await measurePairs(context.rounds, radar, selectOne, (side) => measure(side, connections));
    const ratio = median(pairs.map((pair) => pair.api.p50Ms / pair.ceiling.p50Ms));
    describe(context, name, pairs, ratio);
    context.record({
      bench: name,
      measured: `${median(pairs.map((pair) => pair.api.p50Ms)).toFixed(2)} ms`,
      ceiling: `${median(pairs.map((pair) => pair.ceiling.p50Ms)).toFixed(2)} ms`,
      ratio,
      target: '<= 12',
      held: ratio <= 12,
    });
  }
}

async function startSides(servers: BenchServers, corpus: BenchCorpus, resources: AsyncDisposableStack) {
  const [apiPort, barePort] = [await freePort(), await freePort()];
  const api = startProcess(API, {
    ...servers.environment,
    API_PORT: String(apiPort),
    CURSOR_SECRET: 'a secret for benches only',
    LOG_LEVEL: 'warn',
  });
  resources.defer(() => api.kill());
  const bare = startProcess(REFERENCE, { DATABASE_URL: servers.databaseUrl, PORT: String(barePort) });
  resources.defer(() => bare.kill());
  await bare.says('listening');
  await untilAnswers(`http://127.0.0.1:${apiPort}/v1/openapi.json`);

  const ofApi = (paths: readonly string[], status = 200): Side => ({
    pid: api.child.pid ?? 0,
    load: { origin: `http://127.0.0.1:${apiPort}`, paths, keys: corpus.keys, status },
  });
  const ofBare = (paths: readonly string[]): Side => ({
    pid: bare.child.pid ?? 0,
    load: { origin: `http://127.0.0.1:${barePort}`, paths, keys: [], status: 200 },
  });
  const unknownPaths = Array.from({ length: UNKNOWN_SLUGS }, (_, number) => `/v1/brands/nobody${number}-com`);
  return {
    brand: ofApi(corpus.slugs.map((slug) => `/v1/brands/${slug}`)),
    brandBare: ofBare(corpus.slugs.map((slug) => `/brands/${slug}`)),
    page: ofApi(['/v1/brands?limit=20']),
    pages: ofApi(await pagesOf(`http://127.0.0.1:${apiPort}`, corpus.keys.at(-1) ?? '')),
    pageBare: ofBare(['/brands']),
    unknown: ofApi(unknownPaths, 404),
    radar: ofApi([`/v1/workspaces/${corpus.workspaceId}/radar?limit=20`]),
    selectOne: ofBare(['/select-1']),
  };
}

/** Returns the paths of all pages of brands, first to last. */
async function pagesOf(origin: string, key: string): Promise<readonly string[]> {
  const paths = ['/v1/brands?limit=20'];
  for (;;) {
    const response = await fetch(`${origin}${paths.at(-1)}`, { headers: { authorization: `Bearer ${key}` } });
    const { meta } = (await response.json()) as { meta: { cursor?: string } };
    if (meta.cursor === undefined) return paths;
    paths.push(`/v1/brands?limit=20&cursor=${meta.cursor}`);
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

/** Runs one unmeasured round first, to prepare statements, compile code and load pages into memory. */
async function measurePairs(
  rounds: number,
  api: Side,
  ceiling: Side,
  measure: (side: Side) => Promise<Sample>,
): Promise<readonly Pair[]> {
  await measure(ceiling);
  await measure(api);
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const bare = await measure(ceiling);
    pairs.push({ ceiling: bare, api: await measure(api) });
  }
  return pairs;
}

async function measureSide(
  servers: BenchServers,
  loader: ChildProcess,
  side: Side,
  connections: number,
): Promise<Sample> {
  const server = () => cpuTimes(({ pid }) => pid === side.pid);
  const database = () => cpuTimes(({ parent }) => parent === servers.postmasterPid);
  const [serverBefore, databaseBefore] = [await server(), await database()];
  loader.send({ ...side.load, connections, durationMs: WINDOW_MS } satisfies Load);
  const [result] = (await once(loader, 'message')) as [LoadResult];
  if (result.fault !== null)
    throw new Error(`The load generator received an unexpected response: ${result.fault}`);
  return {
    ...result,
    perSecond: (result.requests / result.elapsedMs) * 1000,
    serverUs: (usedSince(serverBefore, await server()) * 1000) / result.requests,
    databaseUs: (usedSince(databaseBefore, await database()) * 1000) / result.requests,
  };
}

function describe(context: BenchContext, name: string, pairs: readonly Pair[], ratio: number): void {
  const of = (pick: (pair: Pair) => number) => median(pairs.map(pick));
  const cpu = (sample: Sample) => sample.serverUs + sample.databaseUs;
  context.print(
    [
      `  ${name.padEnd(26)}`,
      `${perSecond(of((pair) => pair.api.perSecond))} of ${perSecond(of((pair) => pair.ceiling.perSecond))}`,
      `p50 ${of((pair) => pair.api.p50Ms).toFixed(2)} and ${of((pair) => pair.ceiling.p50Ms).toFixed(2)} ms`,
      `ratio ${ratio.toFixed(2)}`,
      `CPU per request: server ${of((pair) => pair.api.serverUs).toFixed(0)} of ${of((pair) => pair.ceiling.serverUs).toFixed(0)} us,` +
        ` database ${of((pair) => pair.api.databaseUs).toFixed(0)} of ${of((pair) => pair.ceiling.databaseUs).toFixed(0)} us`,
      `(all CPU: ${of((pair) => cpu(pair.api) / cpu(pair.ceiling)).toFixed(2)})`,
    ].join('  '),
  );
}

if (import.meta.main) {
  const rows = Number(process.argv[2] ?? RADAR_ROWS);
  await run({ rounds: ROUNDS, print: (line) => console.log(line), record: () => undefined }, rows);
  process.exit(0);
}
