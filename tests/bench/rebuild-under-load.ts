import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '#deploy/local/os/ports.ts';
import { type BrandTracked, trackingStream } from '#contracts/events/workspace/workspace.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  type Build,
  readStatus,
  requestRebuild,
  requestVerification,
  watchBuild,
  watchVerification,
} from '#services/ops/projections.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { type BenchCorpus, recordCorpus } from './api/corpus.ts';
import { appendEvents } from './projector/events.ts';
import { openIncoming } from './rebuild/incoming.ts';
import { type BenchContext, METADATA, REBUILD_EVENTS, scaled } from './runner/bench.ts';
import type { Load, LoadResult } from './runner/load.ts';
import {
  type BenchServers,
  openPlainPool,
  startApi,
  startServers,
  startService,
  untilAnswers,
} from './runner/servers.ts';

/** No request may fail, the p99 may at most double. `BENCH_REBUILD_EVENTS=1000000` runs the full exercise. */
const EVENTS = scaled(REBUILD_EVENTS, 2_000);
const EVENTS_OF_BRAND = 1_000;
const TRACKED = 40;
const REBUILT = ['radar', 'ads'] as const;
/** Projections that the requests need besides the rebuilt ones. */
const READ = ['brands', 'tracking', 'freshness', 'workspaces', 'api-keys', 'daily-activity'];
/** 32 clients send 320 requests per second. */
const CLIENTS = scaled(32, 2);
const PACE_MS = 100;
const BEFORE_MS = scaled(8_000, 500);
const INGESTED_LIMIT_MS = 600_000;
const PROJECTED_LIMIT_MS = 3_600_000;
const PROGRESS_EVERY_MS = 10_000;
const POOL_CLIENTS = 4;
const LOAD = fileURLToPath(new URL('./runner/load.ts', import.meta.url));

export const run = async (context: BenchContext<'rebuild-under-load'>): Promise<void> => {
  const events = EVENTS;
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const corpus = await recordCorpus(servers, pool);
  const brands = Math.ceil(events / EVENTS_OF_BRAND);
  await appendEvents(eventStore, brands, EVENTS_OF_BRAND);
  await track(eventStore, corpus.workspaceId, Math.min(brands, TRACKED));
  context.print(`rebuild-under-load: ${events.toLocaleString('en')} events appended`);
  await pauseRest(pool);
  const first = startService(resources, servers, 'projector');
  const ingest = await startIngest(servers, resources);
  const head = await eventStore.head();
  await withProgress(context, pool, untilPassed(pool, head, PROJECTED_LIMIT_MS, [...REBUILT, ...READ]));
  await first.stop();
  await resumeRest(pool, head);
  startService(resources, servers, 'projector');
  await ingest.ready();
  context.print('  measuring');
  const clients = await startClients(servers, corpus, resources);
  const incoming = await openIncoming(servers.natsUrl);
  // Unmeasured warm-up: statements are prepared and code is compiled.
  await pause(BEFORE_MS / 2);
  await take(clients);
  await pause(BEFORE_MS);
  const before = await take(clients);
  const recordedBefore = await ingest.events();
  const seconds = await rebuild(context, pool);
  const during = await take(clients);
  const recorded = (await ingest.events()) - recordedBefore;
  const scans = await incoming.stop(INGESTED_LIMIT_MS);
  await untilPassed(pool, await eventStore.head(), PROJECTED_LIMIT_MS);
  const verified = await verify(context, pool);
  const parked = (await readStatus(pool, eventStore, [])).reduce((sum, one) => sum + one.parked, 0);
  context.print(
    `rebuild-under-load: ${REBUILT.join(' and ')} from at least ${events.toLocaleString('en')} events in ` +
      `${seconds.toFixed(1)} s, ${recorded} events recorded during the rebuild, ${scans} scans ingested, ${CLIENTS} clients; ` +
      `verify: ${verified}; parked: ${parked}`,
  );
  for (const [when, result] of Object.entries({ before, during })) {
    context.print(
      `  ${when.padEnd(7)} ${result.requests} requests, ${result.failed} failed, p50 ${result.p50Ms.toFixed(1)} ms, ` +
        `p99 ${result.p99Ms.toFixed(1)} ms${result.fault === null ? '' : `; ${result.fault}`}`,
    );
  }
  if (verified !== 'passed' || parked > 0)
    throw new Error(`The rebuilt tables are wrong: verify ${verified}, ${parked} parked.`);
  context.record('p99 of reads', during.p99Ms, before.p99Ms);
  context.record('failed requests', before.failed + during.failed);
  context.record('rebuild', seconds);
};

/** Starts a real ingest process, whose metric counts the events that it records. */
async function startIngest(
  servers: BenchServers,
  resources: AsyncDisposableStack,
): Promise<{ ready(): Promise<void>; events(): Promise<number> }> {
  const metricsPort = await freePort();
  startService(resources, servers, 'ingest', { METRICS_PORT: String(metricsPort) });
  const url = `http://127.0.0.1:${metricsPort}`;
  return {
    ready: () => untilAnswers(`${url}/readyz`),
    events: async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const events = /^adintel_ingest_facts_total (\d+)$/m.exec(text)?.[1];
      if (events === undefined) throw new Error('The ingest process has no metric of recorded events.');
      return Number(events);
    },
  };
}

async function startClients(
  servers: BenchServers,
  corpus: BenchCorpus,
  resources: AsyncDisposableStack,
): Promise<ChildProcess> {
  const { origin } = await startApi(resources, servers);
  const clients = fork(LOAD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  resources.defer(() => void clients.kill('SIGKILL'));
  const paths = [
    `/v1/workspaces/${corpus.workspaceId}/radar?limit=20`,
    `/v1/brands/${brandIdOf('brand1.example')}/ads?limit=20`,
    ...corpus.slugs.slice(0, 20).map((slug) => `/v1/brands/${slug}`),
  ];
  const pace = { connections: CLIENTS, paceMs: PACE_MS, durationMs: null };
  clients.send({ origin, paths, key: corpus.key, status: 200, ...pace } satisfies Load);
  return clients;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function take(clients: ChildProcess): Promise<LoadResult> {
  clients.send('take');
  const [result] = (await once(clients, 'message')) as [LoadResult];
  return result;
}

async function track(eventStore: EventStore, workspaceId: string, count: number): Promise<void> {
  const stream = trackingStream(workspaceId);
  const last = await eventStore.last(stream);
  const tracked = Array.from({ length: count }, (_, number): BrandTracked => {
    const tracked_at = new Date().toISOString();
    const brand_id = brandIdOf(`brand${number}.example`);
    return {
      type: 'BrandTracked',
      data: { workspace_id: workspaceId, brand_id, cadence: 'daily', tracked_at },
    };
  });
  await eventStore.append(stream, last?.revision ?? -1n, tracked, METADATA, 'track more');
}

/** Pauses projections that would each take as long to catch up as a rebuilt one. */
async function pauseRest(pool: Database): Promise<void> {
  await pool.query('update projector.projection set is_paused = true where not name = any($1)', [
    [...REBUILT, ...READ],
  ]);
}

/** Moves paused projections to the head of the log. No projector may run at this time. */
async function resumeRest(pool: Database, head: bigint): Promise<void> {
  await pool.query(
    `update projector.behind b set position = $1, state = 'catching_up'
     from projector.read_model m where m.name = b.projection and m.is_paused`,
    [head],
  );
  await pool.query('update projector.read_model set is_paused = false where is_paused');
}

async function withProgress(
  context: BenchContext<'rebuild-under-load'>,
  pool: Database,
  work: Promise<void>,
): Promise<void> {
  const printProgress = async (): Promise<void> => {
    const { rows } = await pool.query<{ behind: number; events: number }>(
      `select count(*) filter (where lag_facts > 0)::int as behind, max(lag_facts)::float8 as events
       from projector.lag where name = any($1)`,
      [[...REBUILT, ...READ]],
    );
    context.print(`  ${rows[0]?.behind} projections behind, by at most ${rows[0]?.events} events`);
  };
  const timer = setInterval(() => void printProgress().catch(() => undefined), PROGRESS_EVERY_MS);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
}

const throttledPrint = (context: BenchContext<'rebuild-under-load'>): ((line: string) => void) => {
  let nextMs = 0;
  return (line) => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + PROGRESS_EVERY_MS;
    context.print(`  ${line}`);
  };
};

async function rebuild(context: BenchContext<'rebuild-under-load'>, pool: Database): Promise<number> {
  const startMs = performance.now();
  for (const name of REBUILT) await requestRebuild(pool, name, { from: 'start', by: 'bench' });
  const built = REBUILT.map(async (name) => {
    const print = throttledPrint(context);
    const onProgress = ({ state, facts: events, total_facts: total, eta_seconds: eta }: Build): void =>
      print(`${name} ${state}, ${events} of ${total} events${eta === null ? '' : `, ${eta} s left`}`);
    const build = await watchBuild(pool, name, onProgress, new AbortController().signal);
    if (build?.state !== 'done')
      throw new Error(`The build of ${name} ended as ${build?.state}: ${build?.error}`);
  });
  await Promise.all(built);
  return (performance.now() - startMs) / 1_000;
}

async function verify(context: BenchContext<'rebuild-under-load'>, pool: Database): Promise<string> {
  for (const name of REBUILT) {
    await requestVerification(pool, name, { to: null, by: 'bench' });
    const print = throttledPrint(context);
    const result = await watchVerification(
      pool,
      name,
      ({ state, facts: events }) => print(`verify ${name}: ${state}, ${events} events`),
      new AbortController().signal,
    );
    if (result?.state !== 'passed') return `${name} ${result?.state} ${result?.error ?? ''}`;
  }
  return 'passed';
}
