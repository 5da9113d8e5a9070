import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '#deploy/local/os/ports.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { fillRadar, recordCorpus } from './api/corpus.ts';
import type { FigureName } from './figures.ts';
import { type BenchContext, measurePairs, perSecond, scaled } from './runner/bench.ts';
import { watchCpu } from './runner/cpu-time.ts';
import { cpuBySteps, inspectable } from './runner/inspector.ts';
import type { Load, LoadResult } from './runner/load.ts';
import { openPlainPool, startApi, startServers } from './runner/servers.ts';

const RADAR_ROWS = scaled(5_000_000, 4_000);
const WINDOW_MS = scaled(1_500, 50);
/** Long enough for some thousand samples of the profiler. */
const PROFILED_MS = scaled(5_000, 300);
const CONNECTIONS = 32;
const PAGE_SIZE = 20;
const POOL_CLIENTS = 4;
const UNKNOWN_SLUGS = 300;
const REFUSED_MAX = 10;
const LOAD = fileURLToPath(new URL('./runner/load.ts', import.meta.url));

interface Side {
  readonly pid: number;
  readonly load: Pick<Load, 'origin' | 'paths' | 'key' | 'status'>;
}

interface Sample extends LoadResult {
  readonly perSecond: number;
  readonly serverUs: number;
  readonly databaseUs: number;
}

/** Compares processes that log no line per request: API, bare server and load generator. */
export const run = async (context: BenchContext<'api'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const { workspaceId, slugs, key } = await recordCorpus(servers, pool);
  const filledMs = performance.now();
  await fillRadar(pool, RADAR_ROWS);
  context.print(
    `api: compared with a bare Fastify and pg, ${CONNECTIONS} connections. ` +
      `${RADAR_ROWS.toLocaleString('en')} radar rows created in ${Math.round((performance.now() - filledMs) / 1000)} s`,
  );
  const { port: inspectorPort, settings } = await inspectable();
  const { origin, pid } = await startApi(resources, servers, settings);
  const barePort = await freePort();
  const bare = startProcess('tests/bench/api/reference.ts', {
    DATABASE_URL: servers.databaseUrl,
    PORT: String(barePort),
  });
  resources.defer(() => bare.kill());
  await bare.says('listening');
  const loader = fork(LOAD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  resources.defer(() => void loader.kill('SIGKILL'));

  const ofApi = (paths: readonly string[], status = 200): Side => ({
    pid,
    load: { origin, paths, key, status },
  });
  const ofBare = (paths: readonly string[]): Side => ({
    pid: bare.child.pid ?? 0,
    load: { origin: `http://127.0.0.1:${barePort}`, paths, key: null, status: 200 },
  });
  const workspace = `/v1/workspaces/${workspaceId}`;
  const allPages = (path: string) => pagesOf(origin, path, key);
  const firstPage = (path: string) => ofApi([pageOf(path)]);
  const brand = ofApi(slugs.map((slug) => `/v1/brands/${slug}`));
  const unknown = Array.from({ length: UNKNOWN_SLUGS }, (_, number) => `/v1/brands/nobody${number}-com`);
  const [brands, apiKeys, tracked] = ['/v1/brands', `${workspace}/api-keys`, `${workspace}/tracked-brands`];
  const bareKeys = ofBare([`/api-keys/${workspaceId}`]);
  const bareTracked = ofBare([`/tracked-brands/${workspaceId}`]);

  const rates: readonly (readonly [FigureName<'api'>, Side, Side])[] = [
    ['one brand', brand, ofBare(slugs.map((slug) => `/brands/${slug}`))],
    ['page of 20 brands', firstPage(brands), ofBare(['/brands'])],
    // Requests for one page that arrive together share a read; in rotation, over more pages than connections, none do.
    ['pages of 20, in rotation', ofApi(await allPages(brands)), ofBare(['/brands'])],
    ['list of keys', firstPage(apiKeys), bareKeys],
    ['pages of keys, in rotation', ofApi(await allPages(apiKeys)), bareKeys],
    ['list of tracked brands', firstPage(tracked), bareTracked],
    ['pages of tracked brands, in rotation', ofApi(await allPages(tracked)), bareTracked],
    ['404s', ofApi(unknown, 404), brand],
  ];
  const measure = (side: Side, connections = CONNECTIONS, durationMs = WINDOW_MS): Promise<Sample> =>
    measureSide(servers.postmasterPid, loader, side, { connections, durationMs });
  for (const [name, api, ceiling] of rates) {
    const pairs = await measurePairs(
      context.rounds,
      () => measure(ceiling),
      () => measure(api),
    );
    const rate = pairs.of((sample) => sample.perSecond);
    context.record(name, rate.measured, rate.ceiling, rate.ratio);
    const server = pairs.of(({ serverUs }) => serverUs);
    const database = pairs.of(({ databaseUs }) => databaseUs);
    const all = pairs.of(({ serverUs, databaseUs }) => serverUs + databaseUs);
    context.print(
      `  ${name.padEnd(38)}${perSecond(rate.measured)} of ${perSecond(rate.ceiling)}, ratio ${rate.ratio.toFixed(2)}; CPU of a request: ` +
        `server ${server.measured.toFixed(0)} of ${server.ceiling.toFixed(0)} µs, database ${database.measured.toFixed(0)} of ` +
        `${database.ceiling.toFixed(0)} µs (all CPU: ${all.ratio.toFixed(2)})`,
    );
    if (name === 'one brand')
      context.record('one brand, CPU of the API', server.measured, server.ceiling, server.ratio);
  }
  for (const [name, connections] of [
    ['radar page, alone', 1],
    ['radar page, under load', CONNECTIONS],
  ] as const) {
    const pairs = await measurePairs(
      context.rounds,
      () => measure(ofBare(['/select-1']), connections),
      () => measure(ofApi([`${workspace}/radar?limit=20`]), connections),
    );
    const { measured, ceiling, ratio } = pairs.of(({ p50Ms }) => p50Ms);
    context.record(name, measured, ceiling, ratio);
    context.print(`  ${name}: p50 ${measured.toFixed(2)} ms, select 1 ${ceiling.toFixed(2)} ms`);
  }
  // Last, because the profiler slows the API. Its shares are of the CPU time of a request that is measured without it.
  const { serverUs } = await measure(brand, CONNECTIONS, PROFILED_MS);
  const steps = await cpuBySteps({ pid, port: inspectorPort }, () =>
    measure(brand, CONNECTIONS, PROFILED_MS),
  );
  for (const [step, share] of steps) context.record(`one brand, CPU of ${step}`, share * serverUs);
};

const pageOf = (path: string, cursor?: string, limit = PAGE_SIZE): string =>
  `${path}?limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`;

/** All full pages: one begins at each row. */
const pagesOf = async (origin: string, path: string, key: string): Promise<readonly string[]> => {
  const cursors: (string | undefined)[] = [undefined];
  for (let refused = 0; ; ) {
    const next = pageOf(path, cursors.at(-1), 1);
    const reply = await fetch(`${origin}${next}`, { headers: { authorization: `Bearer ${key}` } });
    const { meta, error } = (await reply.json()) as { meta?: { cursor?: string }; error?: unknown };
    if (meta?.cursor) cursors.push(meta.cursor);
    else if (meta)
      return cursors.slice(0, Math.max(1, cursors.length - PAGE_SIZE + 1)).map((from) => pageOf(path, from));
    // On a busy machine the API may refuse reads for a second.
    else if (reply.status === 503 && refused < REFUSED_MAX) refused += 1;
    else throw new Error(`${next} replied ${reply.status}: ${JSON.stringify(error)}`);
    if (!meta) await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
};

const measureSide = async (
  postmasterPid: number,
  loader: ChildProcess,
  { pid, load }: Side,
  size: Pick<Load, 'connections' | 'durationMs'>,
): Promise<Sample> => {
  const cpuSince = await watchCpu({ server: pid, database: postmasterPid });
  loader.send({ ...load, ...size } satisfies Load);
  const [result] = (await once(loader, 'message')) as [LoadResult];
  if (result.fault !== null) throw new Error(`The API sent an unexpected response: ${result.fault}`);
  const { server, database } = await cpuSince();
  return {
    ...result,
    perSecond: (result.requests / result.elapsedMs) * 1_000,
    serverUs: (server * 1_000) / result.requests,
    databaseUs: (database * 1_000) / result.requests,
  };
};
