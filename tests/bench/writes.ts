import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { brandIdOf } from '#domain/ids.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { openWorkspaces, recordCorpus } from './api/corpus.ts';
import { type BenchContext, measurePairs, METADATA, percentile, scaled } from './runner/bench.ts';
import { watchCpu } from './runner/cpu-time.ts';
import { filesRun, inspectable } from './runner/inspector.ts';
import { openPlainPool, startApi, startServers, startService } from './runner/servers.ts';

const CLIENTS = 32;
const WRITES_PER_CLIENT = scaled(20, 2);
const WARMING_ROUNDS = scaled(8);
const POOL_CLIENTS = 4;

interface Client {
  readonly workspaceId: string;
  readonly key: string;
}

/** Tracking uses a new brand per request. */
const brandOf = (requestIndex: number): string => brandIdOf(`brand${requestIndex}.com`);

/** Each round uses new workspaces. */
type Write = (requestIndex: number) => { method: 'POST' | 'DELETE'; path: string; body: object };
const WRITES = {
  'track a brand': (requestIndex) => ({
    method: 'POST',
    path: 'tracked-brands',
    body: { brand_id: brandOf(requestIndex), cadence: 'daily' },
  }),
  'track and untrack': (requestIndex) =>
    requestIndex % 2 === 0
      ? { method: 'POST', path: 'tracked-brands', body: { brand_id: brandOf(0) } }
      : { method: 'DELETE', path: `tracked-brands/${brandOf(0)}`, body: {} },
  'create an API key': (requestIndex) => ({
    method: 'POST',
    path: 'api-keys',
    body: { name: `key ${requestIndex}`, scopes: ['me:read'] },
  }),
} as const satisfies Record<string, Write>;

/** Leaves key revocations out: by design they take 350 ms. */
export const run = async (context: BenchContext<'writes'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  await recordCorpus(servers, pool);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const projector = startService(resources, servers, 'projector');
  const { port, settings } = await inspectable();
  const { origin, pid } = await startApi(resources, servers, settings);
  await untilPassed(pool, await eventStore.head());
  const createWorkspace = openWorkspaces(resources, servers, pool, eventStore);
  const addClient = async (): Promise<Client> => {
    const { workspaceId, keys } = await createWorkspace();
    return { workspaceId, key: keys[0] ?? '' };
  };
  const http = new Pool(origin, { connections: CLIENTS, pipelining: 1 });
  resources.defer(() => http.close());
  const processes = {
    API: pid,
    'event store': servers.eventStore.pid,
    projector: projector.pid,
    Postgres: servers.postmasterPid,
  };

  context.print(`writes: ${CLIENTS} clients, ${WRITES_PER_CLIENT} writes each, compared with bare appends`);
  for (const [name, write] of Object.entries(WRITES)) {
    const pairs = await measurePairs<{
      readonly latencies: readonly number[];
      readonly cpu: Partial<Record<keyof typeof processes, number>>;
    }>(
      context.rounds,
      async () => ({ latencies: await latenciesOf(() => bareAppends(eventStore)), cpu: {} }),
      async () => {
        const clients = await Promise.all(Array.from({ length: CLIENTS }, addClient));
        const cpuSince = await watchCpu(processes);
        const latencies = await latenciesOf((clientIndex) =>
          requests(http, write, clients[clientIndex] ?? { workspaceId: '', key: '' }),
        );
        return { latencies, cpu: await cpuSince() };
      },
      // Rounds until code is compiled, statements are prepared and connections are open.
      WARMING_ROUNDS,
    );
    const { measured, ceiling, ratio } = pairs.of(({ latencies }) => percentile(latencies, 0.5));
    context.record(name as keyof typeof WRITES, measured, ceiling, ratio);
    const p99 = pairs.of(({ latencies }) => percentile(latencies, 0.99)).measured;
    const used = (Object.keys(processes) as (keyof typeof processes)[]).map((process) => {
      const ms = pairs.of(({ cpu }) => (cpu[process] ?? 0) / (CLIENTS * WRITES_PER_CLIENT)).measured;
      if (name === 'track a brand') context.record(`track a brand, CPU of ${process}`, ms);
      return `${process} ${ms.toFixed(2)}`;
    });
    context.print(
      `  ${name.padEnd(20)}p50 ${measured.toFixed(1)} and ${ceiling.toFixed(1)} ms, ratio ${ratio.toFixed(2)}, ` +
        `p99 ${p99.toFixed(1)} ms; CPU of a write in ms: ${used.join(', ')}`,
    );
  }
  const client = await addClient();
  const files = await filesRun({ pid, port }, () => requests(http, WRITES['track a brand'], client)(0));
  context.record('files that a command runs through', files.length);
  context.print(
    `  a command runs through: ${files.map((file) => file.replace(/^.*?\/(?=(services|contracts|projections)\/)/, '')).join(', ')}`,
  );
};

const latenciesOf = async (
  clientOf: (clientIndex: number) => (requestIndex: number) => Promise<void>,
): Promise<readonly number[]> => {
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
};

/** Appends one event at its revision: the minimum work of any command. */
const bareAppends = (eventStore: EventStore): ((requestIndex: number) => Promise<void>) => {
  const stream = `bench-${randomUUID()}`;
  const data = { workspace_id: 'ws_bench', brand_id: randomUUID(), cadence: 'daily', tracked_at: 'now' };
  return async (requestIndex) => {
    const event = { type: 'BrandTracked', data };
    await eventStore.append(stream, BigInt(requestIndex) - 1n, [event], METADATA, randomUUID());
  };
};

const requests =
  (http: Pool, write: Write, { workspaceId, key }: Client) =>
  async (requestIndex: number): Promise<void> => {
    const { method, path, body } = write(requestIndex);
    const reply = await http.request({
      method,
      path: `/v1/workspaces/${workspaceId}/${path}`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`The API replied ${reply.statusCode}: ${text}`);
  };
