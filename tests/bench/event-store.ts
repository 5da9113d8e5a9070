import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { type BenchContext, median, perSecond, ROUNDS, scaled } from './bench.ts';
import { type ServerProcess, startCeiling, startStore } from './event-store/processes.ts';
import { batchedAppends, liveLatencies, readForwards, singleAppends } from './event-store/workloads.ts';

/** Duration of one measurement: long enough for hundreds of commits, short enough for many pairs. */
const WINDOW_MS = scaled(1_000, 50);
const LIVE_WINDOW_MS = scaled(2_000, 100);
const READ_EVENTS = scaled(40_000);
const FILL_WINDOW_MS = scaled(4_000, 50);

interface Workload {
  readonly name: string;
  /** Minimum ratio of the store's rate to that of a server that does no work. */
  readonly target: number;
  run(client: EventStoreDBClient): Promise<number>;
}

const WORKLOADS: readonly Workload[] = [
  { name: 'append 1, 64 writers', target: 0.6, run: (client) => singleAppends(client, WINDOW_MS) },
  { name: 'append 500 a call, 4 in flight', target: 0.6, run: (client) => batchedAppends(client, WINDOW_MS) },
  { name: 'readAll forwards', target: 0.5, run: (client) => readForwards(client, READ_EVENTS) },
];
const LIVE_P50_LIMIT_MS = 1.5;
const LIVE_P99_LIMIT_MS = 15;

interface Sample {
  readonly perSecond: number;
  readonly serverUs: number;
  readonly clientUs: number;
}

/**
 * Compares the event store with a server that does no work, using the same client in the same run. The two sides
 * alternate, and each ratio compares neighbouring measurements. Other load on the machine therefore affects both
 * alike.
 */
export async function run(context: BenchContext): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), `test-stack-${process.pid}-`));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  // PostgreSQL refuses to run as root. It then runs as another user, who needs access to the folder.
  await chmod(folder, 0o755);
  const postgres = await startPostgres({ folder: join(folder, 'postgres'), port: 0 });
  resources.defer(() => postgres.stop());
  await postgres.createDatabase('bench');
  const pidFile = await readFile(join(folder, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  const store = await startStore(postgres.databaseUrl('bench'), Number(pidFile.split('\n')[0]));
  resources.defer(() => store.stop());
  const ceiling = await startCeiling();
  resources.defer(() => ceiling.stop());
  const storeClient = EventStoreDBClient.connectionString(store.url);
  resources.defer(() => storeClient.dispose());
  const ceilingClient = EventStoreDBClient.connectionString(ceiling.url);
  resources.defer(() => ceilingClient.dispose());

  await batchedAppends(storeClient, FILL_WINDOW_MS);
  context.print(
    'event store: the local store compared with a server that does no work; medians of paired rounds',
  );
  for (const workload of WORKLOADS) {
    await workload.run(ceilingClient);
    await workload.run(storeClient);
    const pairs: { ceiling: Sample; store: Sample }[] = [];
    for (let round = 0; round < context.rounds; round += 1) {
      const ceilingSample = await measure(ceiling, () => workload.run(ceilingClient));
      pairs.push({ ceiling: ceilingSample, store: await measure(store, () => workload.run(storeClient)) });
    }
    context.print(describePairs(workload, pairs));
    recordPairs(context, workload, pairs);
  }
  context.print(await describeLive(storeClient, context));
}

async function measure(server: ServerProcess, work: () => Promise<number>): Promise<Sample> {
  const serverBefore = await server.cpuMs();
  const clientBefore = process.cpuUsage();
  const startMs = performance.now();
  const operations = await work();
  const elapsedMs = performance.now() - startMs;
  const client = process.cpuUsage(clientBefore);
  return {
    perSecond: (operations / elapsedMs) * 1000,
    serverUs: (((await server.cpuMs()) - serverBefore) * 1000) / operations,
    clientUs: (client.user + client.system) / operations,
  };
}

function describePairs(workload: Workload, pairs: readonly { ceiling: Sample; store: Sample }[]): string {
  const of = (pick: (pair: { ceiling: Sample; store: Sample }) => number) => median(pairs.map(pick));
  const ratio = of((pair) => pair.store.perSecond / pair.ceiling.perSecond);
  return [
    `  ${workload.name.padEnd(32)}`,
    `${rate(of((pair) => pair.store.perSecond))}/s of ${rate(of((pair) => pair.ceiling.perSecond))}/s`,
    `ratio ${ratio.toFixed(2)} (target ${workload.target.toFixed(2)}, ${ratio >= workload.target ? 'held' : 'MISSED'})`,
    `CPU per event: store and database ${of((pair) => pair.store.serverUs).toFixed(1)} us,`,
    `client ${of((pair) => pair.store.clientUs).toFixed(1)} us`,
  ].join('  ');
}

function recordPairs(
  context: BenchContext,
  { name, target }: Workload,
  pairs: readonly { ceiling: Sample; store: Sample }[],
): void {
  const ratio = median(pairs.map((pair) => pair.store.perSecond / pair.ceiling.perSecond));
  context.record({
    bench: `event store: ${name}`,
    measured: perSecond(median(pairs.map((pair) => pair.store.perSecond))),
    ceiling: perSecond(median(pairs.map((pair) => pair.ceiling.perSecond))),
    ratio,
    target: `>= ${target}`,
    held: ratio >= target,
  });
}

async function describeLive(client: EventStoreDBClient, context: BenchContext): Promise<string> {
  const p50s: number[] = [];
  const p99s: number[] = [];
  await liveLatencies(client, LIVE_WINDOW_MS / 2);
  for (let round = 0; round < context.rounds; round += 1) {
    const latencies = await liveLatencies(client, LIVE_WINDOW_MS);
    p50s.push(latencies[Math.floor(latencies.length * 0.5)] ?? Infinity);
    p99s.push(latencies[Math.floor(latencies.length * 0.99)] ?? Infinity);
  }
  const [p50, p99] = [median(p50s), median(p99s)];
  const held = p50 <= LIVE_P50_LIMIT_MS && p99 <= LIVE_P99_LIMIT_MS;
  context.record({
    bench: 'event store: live p50 / p99',
    measured: `${p50.toFixed(2)} / ${p99.toFixed(1)} ms`,
    ceiling: '-',
    ratio: null,
    target: `<= ${LIVE_P50_LIMIT_MS} / ${LIVE_P99_LIMIT_MS} ms`,
    held,
  });
  const verdict = held ? 'held' : 'MISSED';
  return (
    `  ${'live, 1,000/s'.padEnd(32)}  append call to handler p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms  ` +
    `(target ${LIVE_P50_LIMIT_MS} / ${LIVE_P99_LIMIT_MS} ms, ${verdict})`
  );
}

function rate(eventsPerSecond: number): string {
  return Math.round(eventsPerSecond).toLocaleString('en').padStart(7);
}

if (import.meta.main) {
  await run({ rounds: ROUNDS, print: (line) => console.log(line), record: () => undefined });
  process.exit(0);
}
