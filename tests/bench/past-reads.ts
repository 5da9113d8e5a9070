import { Pool } from 'undici';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { scratchUrlOf } from '#application/as-of/scratch-database.ts';
import { brandIdOf } from '#domain/ids.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { openNats } from '#platform/nats/connection.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { openWorkspaces } from './api/corpus.ts';
import { ingestScan } from './ingest.ts';
import { DOMAIN, scanOfDay } from './ingest/scans.ts';
import { type BenchContext, percentile, scaled } from './runner/bench.ts';
import { watchCpu } from './runner/cpu-time.ts';
import { type BenchServers, openPlainPool, startApi, startServers, startService } from './runner/servers.ts';

/** About 50,000 events of one brand: 10,000 ads, and scans that each find a fifth of them changed. */
const ADS = scaled(10_000, 100);
const CHANGE = 0.2;
const SCANS = scaled(21, 3);
const MOMENTS = scaled(40, 2);
const LIMIT_MS = 1_200_000;
const POLL_MS = 250;
/** A state is kept each 1,000 events. */
const GAP = 1_000;

const READS = {
  brand: '',
  'daily activity': '/daily-activity?from=2026-01-01&to=2026-03-01',
  velocity: '/velocity',
  ads: '/ads',
} as const;

/** Moments are spread over the time in which the events were recorded. States of the brand are kept before. */
export const run = async (context: BenchContext<'past-reads'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, 2);
  resources.defer(() => pool.end());
  await createAccessTables(pool);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  await record(resources, servers);
  const projector = startService(resources, servers, 'projector');
  const createWorkspace = openWorkspaces(resources, servers, pool, eventStore);
  const { keys } = await createWorkspace();
  await untilPassed(pool, await eventStore.head(), LIMIT_MS);
  await projector.stop();
  const { origin, pid } = await startApi(resources, servers);
  const http = new Pool(origin, { connections: 1, pipelining: 1 });
  resources.defer(() => http.close());
  const get = async (path: string, asOf: string): Promise<number> => {
    const startMs = performance.now();
    const reply = await http.request({
      method: 'GET',
      path: `/v1/brands/${brandIdOf(DOMAIN)}${path}${path.includes('?') ? '&' : '?'}as_of=${encodeURIComponent(asOf)}`,
      headers: { authorization: `Bearer ${keys[0] ?? ''}` },
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`The API replied ${reply.statusCode}: ${text}`);
    return performance.now() - startMs;
  };

  const { events, first, last } = await recordedRange(eventStore);
  const unkeptMs = await get(READS['daily activity'], new Date(last).toISOString());
  const scratch = openPlainPool(scratchUrlOf(servers.databaseUrl), 1);
  resources.defer(() => scratch.end());
  const keptMs = performance.now();
  for (;;) {
    const { rows } = await scratch.query<{ states: number }>(
      'select count(*)::int as states from public.kept_state',
    );
    if ((rows[0]?.states ?? 0) >= Math.floor(events / GAP)) break;
    if (performance.now() - keptMs > LIMIT_MS) throw new Error('The states were not kept in time.');
    await pause(POLL_MS);
  }
  const keepingSeconds = (performance.now() - keptMs) / 1_000;
  const { rows: sizes } = await scratch.query<{ bytes: string }>(
    'select pg_database_size(current_database()) as bytes',
  );
  context.print(
    `past-reads: a brand of ${events.toLocaleString('en')} events, ${MOMENTS} moments; the first read ` +
      `${unkeptMs.toFixed(0)} ms; its states were kept after ${keepingSeconds.toFixed(1)} s, ` +
      `in ${(Number(sizes[0]?.bytes ?? 0) / 2 ** 20).toFixed(0)} MiB`,
  );
  const processes = { API: pid, 'event store': servers.eventStore.pid, Postgres: servers.postmasterPid };
  for (const [name, path] of Object.entries(READS)) {
    const moments = Array.from({ length: MOMENTS }, (_, index) =>
      new Date(first + ((last - first) * (index + 1)) / MOMENTS).toISOString(),
    );
    // Warm-up: statements are prepared, and code is compiled.
    for (const moment of moments.slice(0, 3)) await get(path, moment);
    const cpuSince = await watchCpu(processes);
    const latencies: number[] = [];
    for (const moment of moments) latencies.push(await get(path, moment));
    const used = Object.entries(await cpuSince()).map(
      ([process, ms]) => `${process} ${(ms / MOMENTS).toFixed(0)}`,
    );
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    context.record(`${name as keyof typeof READS}, p99`, p99);
    context.print(
      `  ${name.padEnd(15)} p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)} ms; CPU of a read in ms: ${used.join(', ')}`,
    );
  }
};

const record = async (resources: AsyncDisposableStack, servers: BenchServers): Promise<void> => {
  const nats = resources.use(await openNats(servers.natsUrl, 'bench'));
  const ingest = startService(resources, servers, 'ingest', { LOG_LEVEL: 'info' });
  await ingest.says('ingest consumer started');
  for (let day = 0; day < SCANS; day += 1) await ingestScan(nats, scanOfDay(day, ADS, CHANGE));
  await ingest.stop();
};

const recordedRange = async (
  eventStore: EventStore,
): Promise<{ readonly events: number; readonly first: number; readonly last: number }> => {
  const times: number[] = [];
  for (const stream of streamsOfBrand(brandIdOf(DOMAIN)))
    for await (const { recordedAt } of eventStore.read(stream)) times.push(recordedAt.getTime());
  times.sort((one, other) => one - other);
  return { events: times.length, first: times[0] ?? 0, last: times.at(-1) ?? 0 };
};
