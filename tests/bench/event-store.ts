import { EventStoreDBClient } from '@eventstore/db-client';
import { startProcess } from '#tests/stack/processes.ts';
import { batchedAppends, liveLatencies, readForwards, singleAppends } from './event-store/workloads.ts';
import { type BenchContext, median, measurePairs, percentile, perSecond, scaled } from './runner/bench.ts';
import { sumCpu, watchCpu } from './runner/cpu-time.ts';
import { startServers } from './runner/servers.ts';

/** Long enough for hundreds of commits, short enough for many pairs. */
const WINDOW_MS = scaled(1_000, 50);
const LIVE_WINDOW_MS = scaled(2_000, 100);
const READ_EVENTS = scaled(40_000);
const FILL_WINDOW_MS = scaled(4_000, 50);

const WORKLOADS = {
  'append 1, 64 writers': (client: EventStoreDBClient) => singleAppends(client, WINDOW_MS),
  'append 500 a call, 4 in flight': (client: EventStoreDBClient) => batchedAppends(client, WINDOW_MS),
  'readAll forwards': (client: EventStoreDBClient) => readForwards(client, READ_EVENTS),
} as const;

/** Compares both sides with the same client in the same run. */
export const run = async (context: BenchContext<'event-store'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const { eventStore, postmasterPid } = await startServers(resources);
  const bare = startProcess('tests/bench/event-store/ceiling.ts', {});
  resources.defer(() => bare.kill());
  await bare.says('listening');
  const barePort = /listening (\d+)/.exec(bare.output())?.[1] ?? '';
  const client = EventStoreDBClient.connectionString(eventStore.url);
  resources.defer(() => client.dispose());
  const bareClient = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${barePort}?tls=false`);
  resources.defer(() => bareClient.dispose());

  /** Returns the rate and the microseconds of CPU of an operation. */
  const measure = async (processes: Readonly<Record<string, number>>, work: () => Promise<number>) => {
    const cpuSince = await watchCpu(processes);
    const clientBefore = process.cpuUsage();
    const startMs = performance.now();
    const operations = await work();
    const elapsedMs = performance.now() - startMs;
    const { user, system } = process.cpuUsage(clientBefore);
    return {
      perSecond: (operations / elapsedMs) * 1_000,
      serverUs: (sumCpu(await cpuSince()) * 1_000) / operations,
      clientUs: (user + system) / operations,
    };
  };

  await batchedAppends(client, FILL_WINDOW_MS);
  context.print('event-store: the local store compared with a server that does no work');
  for (const [name, work] of Object.entries(WORKLOADS)) {
    const pairs = await measurePairs(
      context.rounds,
      () => measure({ bare: bare.child.pid ?? 0 }, () => work(bareClient)),
      () => measure({ store: eventStore.pid, Postgres: postmasterPid }, () => work(client)),
    );
    const { measured, ceiling, ratio } = pairs.of((sample) => sample.perSecond);
    context.record(name as keyof typeof WORKLOADS, measured, ceiling, ratio);
    const server = pairs.of(({ serverUs }) => serverUs).measured;
    const own = pairs.of(({ clientUs }) => clientUs).measured;
    context.print(
      `  ${name.padEnd(32)}${perSecond(measured)} of ${perSecond(ceiling)}, ratio ${ratio.toFixed(2)}; ` +
        `CPU of an event: store and Postgres ${server.toFixed(1)} µs, client ${own.toFixed(1)} µs`,
    );
  }
  await liveLatencies(client, LIVE_WINDOW_MS / 2);
  const rounds: (readonly number[])[] = [];
  for (let round = 0; round < context.rounds; round += 1)
    rounds.push(await liveLatencies(client, LIVE_WINDOW_MS));
  context.record('live p50', median(rounds.map((latencies) => percentile(latencies, 0.5))));
  context.record('live p99', median(rounds.map((latencies) => percentile(latencies, 0.99))));
};
