import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { freePort } from '#deploy/local/os/ports.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { recordCorpus } from './api/corpus.ts';
import type { Load, LoadResult } from './api/load.ts';
import { type BenchContext, median, perSecond, ROUNDS, scaled } from './bench.ts';
import { type BenchServers, openPlainPool, startServers } from './servers.ts';
import { addClients, type Client, issueKeys, METADATA, SCOPES } from './writes/clients.ts';
import { type Processes, watchCpu } from './writes/watch-cpu.ts';

const CLIENTS = 32;
const WRITES_PER_CLIENT = scaled(20, 2);
const WARMING_ROUNDS = scaled(8);
const POOL_CLIENTS = 4;
const LIST_WINDOW_MS = scaled(1_500, 50);
/**
 * Maximum ratio of a write's median latency to that of a bare append. The write includes everything from request to
 * response, the projection too.
 */
const WRITE_TARGET = 3;
/** Minimum ratio of a list's requests per second to those of a bare server. */
const LIST_TARGET = 1.5;
/**
 * The same minimum when every request asks for a different page. The bare server serves its first page each time.
 */
const UNSHARED_TARGET = 1;
const LIST_LIMIT = 20;
const LOAD = fileURLToPath(new URL('./api/load.ts', import.meta.url));
interface Write {
  readonly name: string;
  /** Returns a client's n-th request. Each round uses new workspaces. */
  request(client: Client, requestIndex: number): { method: 'POST' | 'DELETE'; path: string; body: object };
}

/**
 * Compares writes of workspaces with bare appends, with 32 clients each, alternating. Then compares their lists
 * with a bare server. Event store, projector and API run as in production. Key revocations are left out: by design
 * they reply only after every process has dropped the key (350 ms).
 */
export async function run(context: BenchContext, writes = WRITES): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const corpus = await recordCorpus(servers, pool);
  await using eventStore = openEventStore(servers.eventStore.url);
  await issueKeys(eventStore, corpus.workspaceId);
  await pool.query('update access.api_key set scopes = $1', [SCOPES]);
  const projector = startProcess('services/projector/main.ts', { ...servers.environment, LOG_LEVEL: 'warn' });
  resources.defer(() => projector.kill());
  const { api, bare, apiPid, barePid } = await startSides(servers, resources);
  const processes = {
    api: ({ pid }) => pid === apiPid,
    'event store': ({ pid }) => pid === servers.eventStore.pid,
    projector: ({ pid }) => pid === projector.child.pid,
    database: ({ parent }) => parent === servers.postmasterPid,
  } satisfies Processes;
  await untilPassed(pool, await eventStore.head());

  context.print(`writes: ${CLIENTS} clients, ${WRITES_PER_CLIENT} writes each; medians of paired rounds`);
  for (const write of writes)
    await compareWrite(context, write, { origin: api, database: pool, eventStore, processes });

  const loader = fork(LOAD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  resources.defer(() => void loader.kill('SIGKILL'));
  for (const list of ['api-keys', 'tracked-brands']) {
    const path = `/v1/workspaces/${corpus.workspaceId}/${list}?limit=${LIST_LIMIT}`;
    const side = { connections: CLIENTS, durationMs: LIST_WINDOW_MS, status: 200 };
    const ceilingLoad: Load = { ...side, origin: bare, paths: [`/${list}/${corpus.workspaceId}`], keys: [] };
    const { database } = processes;
    // Concurrent requests for the same page share one read. The case with different pages shows what that saves.
    const lists = [
      { name: `writes: list of ${list}`, paths: [path], target: LIST_TARGET },
      {
        name: `writes: pages of ${list}, in rotation`,
        paths: await pagesOf(api, path, corpus.keys[0] ?? ''),
        target: UNSHARED_TARGET,
      },
    ];
    for (const { name, paths, target } of lists) {
      const ours: Load = { ...side, origin: api, paths, keys: corpus.keys };
      await compareList(context, { name, target }, loader, [
        { load: ours, processes: { server: processes.api, database } },
        { load: ceilingLoad, processes: { server: ({ pid }) => pid === barePid, database } },
      ]);
    }
  }
}

/** Returns the paths of successive pages of a list, at most one per client. */
async function pagesOf(origin: string, path: string, key: string): Promise<readonly string[]> {
  const paths = [path];
  for (;;) {
    const reply = await fetch(`${origin}${paths.at(-1)}`, { headers: { authorization: `Bearer ${key}` } });
    const { meta } = (await reply.json()) as { meta: { cursor?: string } };
    if (meta.cursor === undefined || paths.length === CLIENTS) return paths;
    paths.push(`${path}&cursor=${meta.cursor}`);
  }
}

/** Returns the id of a brand of the corpus. Tracking uses a new brand per request. */
const brandOf = (requestIndex: number): string => brandIdOf(`brand${requestIndex}.com`);

const WRITES: readonly Write[] = [
  {
    name: 'writes: track a brand',
    request: ({ workspaceId }, requestIndex) => ({
      method: 'POST',
      path: `/v1/workspaces/${workspaceId}/tracked-brands`,
      body: { brand_id: brandOf(requestIndex), cadence: 'daily' },
    }),
  },
  {
    name: 'writes: track and untrack',
    request: ({ workspaceId }, requestIndex) => {
      const path = `/v1/workspaces/${workspaceId}/tracked-brands`;
      return requestIndex % 2 === 0
        ? { method: 'POST', path, body: { brand_id: brandOf(0) } }
        : { method: 'DELETE', path: `${path}/${brandOf(0)}`, body: {} };
    },
  },
  {
    name: 'writes: create an API key',
    request: ({ workspaceId }, requestIndex) => ({
      method: 'POST',
      path: `/v1/workspaces/${workspaceId}/api-keys`,
      body: { name: `key ${requestIndex}`, scopes: ['me:read'] },
    }),
  },
];

interface Sides {
  readonly origin: string;
  readonly database: Database;
  readonly eventStore: EventStore;
  readonly processes: Processes;
}

async function compareWrite(
  context: BenchContext,
  write: Write,
  { origin, database, eventStore, processes }: Sides,
): Promise<void> {
  const http = new Pool(origin, { connections: CLIENTS, pipelining: 1 });
  const appends = () => latenciesOf(() => bareAppends(eventStore));
  const writes = async (): Promise<readonly number[]> => {
    const clients = await addClients(database, CLIENTS);
    return latenciesOf((clientIndex) => requests(http, write, clients[clientIndex] as Client));
  };
  // Unmeasured warm-up, to match a server that has run for a while: code is compiled, statements are prepared,
  // connections are open.
  for (let round = 0; round < WARMING_ROUNDS; round += 1) {
    await appends();
    await writes();
  }
  let cpu = '';
  const pairs: { readonly bare: number; readonly ours: number; readonly p99: number }[] = [];
  for (let round = 0; round < context.rounds; round += 1) {
    const bare = median(await appends());
    const cpuSince = await watchCpu(processes);
    const ours = await writes();
    cpu = await cpuSince(ours.length);
    const p99 = ours.toSorted((a, b) => a - b)[Math.floor(ours.length * 0.99)] ?? Number.NaN;
    pairs.push({ bare, ours: median(ours), p99 });
  }
  await http.close();
  const of = (pick: (pair: (typeof pairs)[number]) => number) => median(pairs.map(pick));
  const ratio = of((pair) => pair.ours / pair.bare);
  const [measured, ceiling] = [of((pair) => pair.ours), of((pair) => pair.bare)].map(
    (ms) => `${ms.toFixed(1)} ms`,
  ) as [string, string];
  context.print(
    `  ${write.name.padEnd(30)} p50 ${measured} and ${ceiling} for a bare append  ratio ${ratio.toFixed(2)}` +
      `  p99 ${of((pair) => pair.p99).toFixed(1)} ms` +
      `  CPU ms per write: ${cpu}`,
  );
  context.record({
    bench: write.name,
    measured,
    ceiling,
    ratio,
    target: `<= ${WRITE_TARGET}`,
    held: ratio <= WRITE_TARGET,
  });
}

/** Returns the latencies of all clients, which run concurrently with one request each at a time. */
async function latenciesOf(
  clientOf: (clientIndex: number) => (requestIndex: number) => Promise<void>,
): Promise<readonly number[]> {
  const latencies = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, clientIndex) => {
      const runRequest = clientOf(clientIndex);
      const seen: number[] = [];
      for (let requestIndex = 0; requestIndex < WRITES_PER_CLIENT; requestIndex += 1) {
        const startMs = performance.now();
        await runRequest(requestIndex);
        seen.push(performance.now() - startMs);
      }
      return seen;
    }),
  );
  return latencies.flat();
}

/** Appends one event of the usual size at its exact revision: the minimum work of any command. */
function bareAppends(eventStore: EventStore): (requestIndex: number) => Promise<void> {
  const stream = `bench-${randomUUID()}`;
  const data = { workspace_id: 'ws_bench', brand_id: randomUUID(), cadence: 'daily', tracked_at: 'now' };
  return async (requestIndex) => {
    const event = { type: 'BrandTracked', data };
    await eventStore.append(stream, BigInt(requestIndex) - 1n, [event], METADATA, randomUUID());
  };
}

function requests(http: Pool, write: Write, client: Client): (requestIndex: number) => Promise<void> {
  return async (requestIndex) => {
    const { method, path, body } = write.request(client, requestIndex);
    const reply = await http.request({
      method,
      path,
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`The API replied ${reply.statusCode}: ${text}`);
  };
}

async function startSides(
  servers: BenchServers,
  resources: AsyncDisposableStack,
): Promise<{
  readonly api: string;
  readonly bare: string;
  readonly apiPid: number | undefined;
  readonly barePid: number | undefined;
}> {
  const [apiPort, barePort] = [await freePort(), await freePort()];
  const api = startProcess('services/api/main.ts', {
    ...servers.environment,
    API_PORT: String(apiPort),
    CURSOR_SECRET: 'a secret for benches only',
    LOG_LEVEL: 'warn',
  });
  resources.defer(() => api.kill());
  const settings = { DATABASE_URL: servers.databaseUrl, PORT: String(barePort) };
  const bare = startProcess('tests/bench/writes/reference.ts', settings);
  resources.defer(() => bare.kill());
  await bare.says('listening');
  const origin = `http://127.0.0.1:${apiPort}`;
  const limitMs = Date.now() + READY_LIMIT_MS;
  while (!(await fetch(`${origin}/v1/openapi.json`).catch(() => null))?.ok) {
    if (Date.now() > limitMs) throw new Error(`The API was not ready in time:\n${api.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    api: origin,
    bare: `http://127.0.0.1:${barePort}`,
    apiPid: api.child.pid,
    barePid: bare.child.pid,
  };
}

const READY_LIMIT_MS = 120_000;

interface ListSide {
  readonly load: Load;
  readonly processes: Processes;
}

async function compareList(
  context: BenchContext,
  { name, target }: { readonly name: string; readonly target: number },
  loader: ChildProcess,
  [ours, bareSide]: readonly [ListSide, ListSide],
): Promise<void> {
  const cpu = new Map<ListSide, string>();
  const measure = async (side: ListSide): Promise<number> => {
    const cpuSince = await watchCpu(side.processes);
    loader.send(side.load);
    const [result] = (await once(loader, 'message')) as [LoadResult];
    if (result.fault !== null)
      throw new Error(`The load generator received an unexpected response: ${result.fault}`);
    cpu.set(side, await cpuSince(result.requests));
    return (result.requests / result.elapsedMs) * 1000;
  };
  await measure(bareSide);
  await measure(ours);
  const pairs: { readonly bare: number; readonly api: number }[] = [];
  for (let round = 0; round < context.rounds; round += 1) {
    const bare = await measure(bareSide);
    pairs.push({ bare, api: await measure(ours) });
  }
  const ratio = median(pairs.map(({ api, bare }) => api / bare));
  const [measured, ceiling] = [median(pairs.map(({ api }) => api)), median(pairs.map(({ bare }) => bare))];
  context.print(
    `  ${name.padEnd(30)} ${perSecond(measured)} of ${perSecond(ceiling)}  ratio ${ratio.toFixed(2)}` +
      `  CPU ms per request: ${cpu.get(ours)}; bare ${cpu.get(bareSide)}`,
  );
  context.record({
    bench: name,
    measured: perSecond(measured),
    ceiling: perSecond(ceiling),
    ratio,
    target: `>= ${target}`,
    held: ratio >= target,
  });
}

if (import.meta.main) {
  const writes = process.argv[2] === 'lists' ? [] : WRITES;
  await run({ rounds: ROUNDS, print: (line) => console.log(line), record: () => undefined }, writes);
  process.exit(0);
}
