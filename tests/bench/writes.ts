import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { freePort } from '#deploy/local/os/ports.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { recordCorpus } from './api/corpus.ts';
import type { Load, LoadSeen } from './api/load.ts';
import { type BenchContext, median, perSecond, ROUNDS_ALONE } from './bench.ts';
import { type BenchServers, startServers } from './servers.ts';
import { addClients, type Client, issueKeys, METADATA, SCOPES } from './writes/clients.ts';
import { type Processes, watchCpu } from './writes/watch-cpu.ts';

const CLIENTS = 32;
const WRITES_PER_CLIENT = 20;
const WARMING_ROUNDS = 8;
const POOL_CLIENTS = 4;
const LIST_WINDOW_MS = 1_500;
/** Of the median of a bare append, with everything between request and answer, the projection included. */
const WRITE_TARGET = 3;
/** Requests a second of a list over those of a bare server. */
const LIST_TARGET = 1.5;
/** Of pages that nobody else asks for; the bare server answers its first page each time. */
const UNSHARED_TARGET = 1;
const LIST_LIMIT = 20;
const LOAD = fileURLToPath(new URL('./api/load.ts', import.meta.url));
interface Write {
  readonly name: string;
  /** The request of a client's turn; its own workspace is new in every round. */
  request(client: Client, turn: number): { method: 'POST' | 'DELETE'; path: string; body: object };
}

/**
 * Writes of workspaces beside bare appends, 32 clients each, taking turns; then their lists beside a bare server.
 * Event store, projector and API run as in production. Revocations are left out: by design they answer only when
 * every process has forgotten the key (350 ms).
 */
export async function run(context: BenchContext, writes = WRITES): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPool(servers.databaseUrl, POOL_CLIENTS);
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
    const theirs: Load = { ...side, origin: bare, paths: [`/${list}/${corpus.workspaceId}`], keys: [] };
    const { database } = processes;
    // What several ask for at once is read once; pages that all differ show what that is worth.
    const asked = [
      { name: `writes: list of ${list}`, paths: [path], target: LIST_TARGET },
      {
        name: `writes: pages of ${list}, in turn`,
        paths: await pagesOf(api, path, corpus.keys[0] ?? ''),
        target: UNSHARED_TARGET,
      },
    ];
    for (const { name, paths, target } of asked) {
      const ours: Load = { ...side, origin: api, paths, keys: corpus.keys };
      await compareList(context, { name, target }, loader, [
        { load: ours, processes: { server: processes.api, database } },
        { load: theirs, processes: { server: ({ pid }) => pid === barePid, database } },
      ]);
    }
  }
}

/** Whole pages of a list, one after the other. */
async function pagesOf(origin: string, path: string, key: string): Promise<readonly string[]> {
  const paths = [path];
  for (;;) {
    const reply = await fetch(`${origin}${paths.at(-1)}`, { headers: { authorization: `Bearer ${key}` } });
    const { meta } = (await reply.json()) as { meta: { cursor?: string } };
    if (meta.cursor === undefined || paths.length === CLIENTS) return paths;
    paths.push(`${path}&cursor=${meta.cursor}`);
  }
}

/** Brands that the corpus holds, each in its turn; tracked in one write and untracked in another. */
const brandOf = (turn: number): string => brandIdOf(`brand${turn}.com`);

const WRITES: readonly Write[] = [
  {
    name: 'writes: track a brand',
    request: ({ workspaceId }, turn) => ({
      method: 'POST',
      path: `/v1/workspaces/${workspaceId}/tracked-brands`,
      body: { brand_id: brandOf(turn), cadence: 'daily' },
    }),
  },
  {
    name: 'writes: track and untrack',
    request: ({ workspaceId }, turn) => {
      const path = `/v1/workspaces/${workspaceId}/tracked-brands`;
      return turn % 2 === 0
        ? { method: 'POST', path, body: { brand_id: brandOf(0) } }
        : { method: 'DELETE', path: `${path}/${brandOf(0)}`, body: {} };
    },
  },
  {
    name: 'writes: create an API key',
    request: ({ workspaceId }, turn) => ({
      method: 'POST',
      path: `/v1/workspaces/${workspaceId}/api-keys`,
      body: { name: `key ${turn}`, scopes: ['me:read'] },
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
    return latenciesOf((place) => requests(http, write, clients[place] as Client));
  };
  // Unmeasured: code is compiled, statements are prepared, connections are open. A server has been running for a while.
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
      `  CPU ms a write: ${cpu}`,
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

/** Latencies of all clients at once, each with one thing after the other. */
async function latenciesOf(
  clientOf: (place: number) => (turn: number) => Promise<void>,
): Promise<readonly number[]> {
  const latencies = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, place) => {
      const act = clientOf(place);
      const seen: number[] = [];
      for (let turn = 0; turn < WRITES_PER_CLIENT; turn += 1) {
        const startMs = performance.now();
        await act(turn);
        seen.push(performance.now() - startMs);
      }
      return seen;
    }),
  );
  return latencies.flat();
}

/** An event of the usual size at its exact revision: the least that any command has to do. */
function bareAppends(eventStore: EventStore): (turn: number) => Promise<void> {
  const stream = `bench-${randomUUID()}`;
  const data = { workspace_id: 'ws_bench', brand_id: randomUUID(), cadence: 'daily', tracked_at: 'now' };
  return async (turn) => {
    const event = { type: 'BrandTracked', data };
    await eventStore.append(stream, BigInt(turn) - 1n, [event], METADATA, randomUUID());
  };
}

function requests(http: Pool, write: Write, client: Client): (turn: number) => Promise<void> {
  return async (turn) => {
    const { method, path, body } = write.request(client, turn);
    const reply = await http.request({
      method,
      path,
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`The API answered ${reply.statusCode}: ${text}`);
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
    if (Date.now() > limitMs) throw new Error(`The API did not answer in time:\n${api.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    api: origin,
    bare: `http://127.0.0.1:${barePort}`,
    apiPid: api.child.pid,
    barePid: bare.child.pid,
  };
}

const READY_LIMIT_MS = 30_000;

interface ListSide {
  readonly load: Load;
  readonly processes: Processes;
}

async function compareList(
  context: BenchContext,
  { name, target }: { readonly name: string; readonly target: number },
  loader: ChildProcess,
  [ours, theirs]: readonly [ListSide, ListSide],
): Promise<void> {
  const cpu = new Map<ListSide, string>();
  const measure = async (side: ListSide): Promise<number> => {
    const cpuSince = await watchCpu(side.processes);
    loader.send(side.load);
    const [seen] = (await once(loader, 'message')) as [LoadSeen];
    if (seen.fault !== null) throw new Error(`The load met another answer: ${seen.fault}`);
    cpu.set(side, await cpuSince(seen.requests));
    return (seen.requests / seen.elapsedMs) * 1000;
  };
  await measure(theirs);
  await measure(ours);
  const pairs: { readonly bare: number; readonly api: number }[] = [];
  for (let round = 0; round < context.rounds; round += 1) {
    const bare = await measure(theirs);
    pairs.push({ bare, api: await measure(ours) });
  }
  const ratio = median(pairs.map(({ api, bare }) => api / bare));
  const [measured, ceiling] = [median(pairs.map(({ api }) => api)), median(pairs.map(({ bare }) => bare))];
  context.print(
    `  ${name.padEnd(30)} ${perSecond(measured)} of ${perSecond(ceiling)}  ratio ${ratio.toFixed(2)}` +
      `  CPU ms a request: ${cpu.get(ours)}; bare ${cpu.get(theirs)}`,
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
  await run({ rounds: ROUNDS_ALONE, print: (line) => console.log(line), record: () => undefined }, writes);
  process.exit(0);
}
