import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { radar } from '#projections/radar/project.ts';
import { createProjectorTables, openLiveTarget } from '#services/projector/apply/checkpoints.ts';
import { applyOrPark } from '#services/projector/apply/park-stream.ts';
import { createIndexes, createTables } from '#application/read-models/schema.ts';
import { runProjections } from '#services/projector/run.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { appendEvents } from './projector/events.ts';
import { type FollowedEvent, readEvents, rebuildFromMemory } from './projector/from-memory.ts';
import { compareStartStop } from './projector/start-stop-rates.ts';
import { type BenchContext, measurePairs, perSecond, scaled } from './runner/bench.ts';
import { sumCpu, watchCpu } from './runner/cpu-time.ts';
import { type BenchServers, openPlainPool, startServers } from './runner/servers.ts';

const BRANDS = scaled(100, 2);
const EVENTS_OF_BRAND = 1_000;
const ROWS = BRANDS * EVENTS_OF_BRAND;
const POOL_CLIENTS = 4;
const BATCH_EVENTS = 5_000;
const COPY_SCHEMA = 'copied';
const BARE_SCHEMA = 'copied_bare';

interface Sample {
  readonly seconds: number;
  readonly projectorUs: number;
  readonly serversUs: number;
}

/** The ceiling is a raw COPY of the resulting rows, which has no events to read; so events come from memory. */
export const run = async (context: BenchContext<'projector'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  await createProjectorTables(pool);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const appendedMs = performance.now();
  const head = await appendEvents(eventStore, BRANDS, EVENTS_OF_BRAND);
  context.print(
    `projector: ${ROWS.toLocaleString('en')} events into the radar, compared with raw COPY of its rows. ` +
      `Events appended in ${Math.round((performance.now() - appendedMs) / 1000)} s`,
  );

  const timed = (work: () => Promise<void>): Promise<Sample> => measure(servers, pool, work);
  const whole = await timed(() => catchUp(servers, pool, head));
  const rows = await rowsOfRadar(pool);
  let events: readonly FollowedEvent[] = [];
  const reading = await timed(async () => {
    events = await readEvents(eventStore, radar.prefixes);
  });
  context.print(`  ${describe('whole catch-up', whole)}\n  ${describe('reading part', reading)}`);
  const copyThenIndex = async (): Promise<void> => {
    await copyRows(pool, rows, BARE_SCHEMA);
    await inTransaction(pool, (client) => createIndexes(client, radar, BARE_SCHEMA));
  };
  for (const [name, ceiling, ours] of [
    ['radar, live', () => copyRows(pool, rows, COPY_SCHEMA), () => applyLive(pool, events)],
    ['radar, rebuild', copyThenIndex, () => rebuildFromMemory(pool, radar, events)],
  ] as const) {
    const pairs = await measurePairs(
      context.rounds,
      async () => {
        await emptyTables(pool);
        return timed(ceiling);
      },
      () => timed(ours),
    );
    const rate = pairs.of(({ seconds }) => ROWS / seconds);
    context.record(name, rate.measured, rate.ceiling, rate.ratio);
    const cpu = pairs.of(({ projectorUs, serversUs }) => projectorUs + serversUs);
    context.print(
      `  ${name}: ${perSecond(rate.measured)} of ${perSecond(rate.ceiling)}, ratio ${rate.ratio.toFixed(2)}; ` +
        `CPU of an event ${cpu.measured.toFixed(1)} of ${cpu.ceiling.toFixed(1)} µs`,
    );
  }
  await emptyTables(pool);
  await compareStartStop(context, pool);
};

function describe(name: string, sample: Sample): string {
  return [
    name.padEnd(14),
    `${sample.seconds.toFixed(2)} s`.padStart(8),
    perSecond(ROWS / sample.seconds).padStart(10),
    `CPU of an event: projector ${sample.projectorUs.toFixed(1)} µs, servers ${sample.serversUs.toFixed(1)} µs`,
  ].join('  ');
}

/** Runs a checkpoint first, so that no measurement pays for the writes of the previous one. */
async function measure(servers: BenchServers, pool: Database, work: () => Promise<void>): Promise<Sample> {
  await pool.query('checkpoint');
  const cpuSince = await watchCpu({ store: servers.eventStore.pid, Postgres: servers.postmasterPid });
  const ownBefore = process.cpuUsage();
  const startMs = performance.now();
  await work();
  const seconds = (performance.now() - startMs) / 1000;
  const own = process.cpuUsage(ownBefore);
  return {
    seconds,
    projectorUs: (own.user + own.system) / ROWS,
    serversUs: (sumCpu(await cpuSince()) * 1000) / ROWS,
  };
}

async function catchUp(servers: BenchServers, pool: Database, head: bigint): Promise<void> {
  const projecting = new AbortController();
  const projector = runProjections({
    databaseUrl: servers.databaseUrl,
    eventStoreUrl: servers.eventStore.url,
    projections: [radar],
    log: silentLog(),
    signal: projecting.signal,
  });
  try {
    await untilPassed(pool, head);
  } finally {
    projecting.abort();
    await projector;
  }
}

async function applyLive(pool: Database, events: readonly FollowedEvent[]): Promise<void> {
  const target = await openLiveTarget(pool, radar);
  for (let from = 0; from < events.length; from += BATCH_EVENTS) {
    const batch = events.slice(from, from + BATCH_EVENTS).map(({ event }) => event);
    const position = batch.at(-1)?.position ?? 0n;
    await applyOrPark(pool, target, new Set(), batch, position, {
      prove: () => Promise.resolve(),
      onPoison: (error) => {
        throw error;
      },
    });
  }
}

async function rowsOfRadar(pool: Database): Promise<readonly Buffer[]> {
  const client = await pool.connect();
  try {
    const chunks: Buffer[] = [];
    const stream = client.query(copyTo('copy radar.item to stdout'));
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const { rows } = await client.query<{ rows: number }>('select count(*)::int as rows from radar.item');
    if (rows[0]?.rows !== ROWS) throw new Error(`The radar has ${rows[0]?.rows} rows instead of ${ROWS}.`);
    return chunks;
  } finally {
    client.release();
  }
}

async function emptyTables(pool: Database): Promise<void> {
  await inTransaction(pool, async (client) => {
    await createTables(client, radar, BARE_SCHEMA);
    await createTables(client, radar, COPY_SCHEMA);
    await createIndexes(client, radar, COPY_SCHEMA);
  });
  await pool.query('drop schema if exists radar cascade');
  await pool.query('delete from projector.read_model');
  await pool.query('delete from projector.behind');
  await pool.query(`update run.progress set position = 0 where kind = 'projections'`);
  await pool.query('delete from projector.build');
}

async function copyRows(pool: Database, rows: readonly Buffer[], schema: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const stream = client.query(copyFrom(`copy ${schema}.item from stdin`));
    const done = finished(stream);
    for (const chunk of rows) if (!stream.write(chunk)) await once(stream, 'drain');
    stream.end();
    await done;
  });
}
