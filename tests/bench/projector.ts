import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import type { Followed, Follower } from '#platform/event-store/catch-up-subscription.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { radar } from '#projections/radar/project.ts';
import { createProjectorTables, openLiveTarget } from '#services/projector/apply/checkpoints.ts';
import { applyOrPark } from '#services/projector/apply/park-stream.ts';
import { createIndexes, createTables } from '#services/projector/read-model-schema.ts';
import { rebuildProjection } from '#services/projector/rebuild/rebuild-projection.ts';
import { runProjections } from '#services/projector/run.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { type BenchContext, median, perSecond, ROUNDS, scaled } from './bench.ts';
import { cpuTimes, usedSince } from './cpu-time.ts';
import { appendEvents } from './projector/events.ts';
import { compareStartStop } from './projector/start-stop-rates.ts';
import { type BenchServers, openPlainPool, startServers } from './servers.ts';

const BRANDS = scaled(100, 2);
const EVENTS_OF_BRAND = 1_000;
const ROWS = BRANDS * EVENTS_OF_BRAND;
const TARGETS = { live: 0.4, rebuild: 0.36 } as const;
const POOL_CLIENTS = 4;
const BATCH_EVENTS = 5_000;
const COPY_SCHEMA = 'copied';
const BARE_SCHEMA = 'copied_bare';

type Path = 'live' | 'rebuild';
/** The ceiling of each path: COPY into existing indexes, or COPY followed by building the indexes. */
const CEILINGS = { live: 'copy', rebuild: 'copyThenIndex' } as const;
type Ceiling = (typeof CEILINGS)[Path];

interface Sample {
  readonly seconds: number;
  readonly projectorUs: number;
  readonly serversUs: number;
}

/**
 * Compares the radar's catch-up with a raw COPY of the resulting rows into the same table with the same indexes.
 * Compares its rebuild with a COPY into a bare table followed by building the indexes. A COPY has no events to
 * read, so the compared paths get their events from memory. Reading from the event store is measured once,
 * separately.
 */
export async function run(context: BenchContext): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  await createProjectorTables(pool);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const appendedMs = performance.now();
  const head = await appendEvents(eventStore, BRANDS, EVENTS_OF_BRAND);
  context.print(
    `projector: ${ROWS.toLocaleString('en')} events into the radar, compared with raw COPY of its rows; medians of paired ` +
      `rounds. Events appended in ${Math.round((performance.now() - appendedMs) / 1000)} s`,
  );

  const timed = (work: () => Promise<void>): Promise<Sample> => measure(servers, pool, work);
  const whole = await timed(() => catchUp(servers, pool, head));
  const rows = await rowsOfRadar(pool);
  let events: readonly RecordedEvent[] = [];
  const reading = await timed(async () => {
    events = await readEvents(eventStore);
  });
  context.print(`  ${describe('whole catch-up', whole)}\n  ${describe('reading part', reading)}`);

  const paths: Readonly<Record<Ceiling | Path, () => Promise<void>>> = {
    copy: () => copyRows(pool, rows, COPY_SCHEMA),
    copyThenIndex: async () => {
      await copyRows(pool, rows, BARE_SCHEMA);
      await inTransaction(pool, (client) => createIndexes(client, radar, BARE_SCHEMA));
    },
    live: () => applyLive(pool, events),
    rebuild: () => rebuild(pool, eventStore, events),
  };
  const rounds: Record<Ceiling | Path, Sample>[] = [];
  // The first round is not measured.
  for (let round = -1; round < context.rounds; round += 1) {
    await emptyTables(pool);
    const copy = await timed(paths.copy);
    const live = await timed(paths.live);
    const copyThenIndex = await timed(paths.copyThenIndex);
    const measured = { copy, copyThenIndex, live, rebuild: await timed(paths.rebuild) };
    if (round >= 0) rounds.push(measured);
  }
  const of = (name: Ceiling | Path): Sample => ({
    seconds: median(rounds.map((round) => round[name].seconds)),
    projectorUs: median(rounds.map((round) => round[name].projectorUs)),
    serversUs: median(rounds.map((round) => round[name].serversUs)),
  });
  for (const name of ['live', 'rebuild'] as const) {
    const ceiling = CEILINGS[name];
    context.print(`  ${describe(name === 'live' ? 'copy, indexed' : 'copy, index', of(ceiling))}`);
    const ratio = median(rounds.map((round) => round[ceiling].seconds / round[name].seconds));
    const ofCpu = median(rounds.map((round) => cpuOf(round[ceiling]) / cpuOf(round[name])));
    context.print(`  ${describe(name, of(name))}  ratio ${ratio.toFixed(2)} (all CPU: ${ofCpu.toFixed(2)})`);
    context.record({
      bench: `projector: radar, ${name}`,
      measured: perSecond(ROWS / of(name).seconds),
      ceiling: perSecond(ROWS / of(ceiling).seconds),
      ratio,
      target: `>= ${TARGETS[name]}`,
      held: ratio >= TARGETS[name],
    });
  }
  await emptyTables(pool);
  await compareStartStop(context, pool);
}

function cpuOf({ projectorUs, serversUs }: Sample): number {
  return projectorUs + serversUs;
}

function describe(name: string, sample: Sample): string {
  return [
    name.padEnd(14),
    `${sample.seconds.toFixed(2)} s`.padStart(8),
    perSecond(ROWS / sample.seconds).padStart(10),
    `CPU per event: projector ${sample.projectorUs.toFixed(1)} us, servers ${sample.serversUs.toFixed(1)} us`,
  ].join('  ');
}

/** Runs a checkpoint first, so that a measurement does not pay for the writes of the previous one. */
async function measure(servers: BenchServers, pool: Database, work: () => Promise<void>): Promise<Sample> {
  await pool.query('checkpoint');
  const serverTimes = () =>
    cpuTimes(({ pid, parent }) => pid === servers.eventStore.pid || parent === servers.postmasterPid);
  const before = await serverTimes();
  const ownBefore = process.cpuUsage();
  const startMs = performance.now();
  await work();
  const seconds = (performance.now() - startMs) / 1000;
  const own = process.cpuUsage(ownBefore);
  return {
    seconds,
    projectorUs: (own.user + own.system) / ROWS,
    serversUs: (usedSince(before, await serverTimes()) * 1000) / ROWS,
  };
}

/** Runs the projector from an empty state, including reading the log. */
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

/** Applies the events to the live table and its indexes, in batches of the size used during catch-up. */
async function applyLive(pool: Database, events: readonly RecordedEvent[]): Promise<void> {
  const target = await openLiveTarget(pool, radar);
  for (let from = 0; from < events.length; from += BATCH_EVENTS) {
    const batch = events.slice(from, from + BATCH_EVENTS);
    const position = batch.at(-1)?.position ?? 0n;
    await applyOrPark(pool, target, new Set(), batch, position, {
      prove: () => Promise.resolve(),
      onPoison: (error) => {
        throw error;
      },
    });
  }
}

/** Rebuilds the projection in new tables, creating indexes last. The log is read from memory at no cost. */
async function rebuild(
  pool: Database,
  eventStore: EventStore,
  events: readonly RecordedEvent[],
): Promise<void> {
  let next = 0;
  const follow = (): Follower => ({
    take: async (max) => {
      const taken = events
        .slice(next, next + max)
        .map((event): Followed => ({ kind: 'event', event, bytes: 0 }));
      next += taken.length;
      return next < events.length ? taken : [...taken, { kind: 'caught_up' }];
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  await rebuildProjection(pool, { ...eventStore, follow }, radar, new AbortController().signal);
}

async function readEvents(eventStore: EventStore): Promise<readonly RecordedEvent[]> {
  await using follower = eventStore.follow({
    after: null,
    prefixes: radar.prefixes,
    bufferItems: BATCH_EVENTS * 2,
  });
  const events: RecordedEvent[] = [];
  for (let caughtUp = false; !caughtUp; ) {
    const items = await follower.take(BATCH_EVENTS);
    if (items.length === 0) throw new Error('The event store ended the subscription.');
    for (const item of items) {
      if (item.kind === 'event') events.push(item.event);
      else if (item.kind === 'caught_up') caughtUp = true;
    }
  }
  return events;
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

if (import.meta.main) {
  await run({ rounds: ROUNDS, print: (line) => console.log(line), record: () => undefined });
  process.exit(0);
}
