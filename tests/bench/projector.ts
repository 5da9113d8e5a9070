import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { type EventStore, openEventStore } from '#platform/event-store.ts';
import { silentLog } from '#platform/log.ts';
import { type Database, inTransaction, openPool } from '#platform/postgres.ts';
import { radar } from '#projections/radar/project.ts';
import { createProjectorTables } from '#services/projector/checkpoints.ts';
import { createIndexes, createTables } from '#services/projector/read-model-schema.ts';
import { buildBeside } from '#services/projector/rebuild.ts';
import { runProjections } from '#services/projector/run-projections.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { type BenchContext, median, perSecond, ROUNDS_ALONE } from './bench.ts';
import { cpuTimes, usedSince } from './cpu-time.ts';
import { appendFacts } from './projector/facts.ts';
import { type BenchServers, startServers } from './servers.ts';

const BRANDS = 100;
const FACTS_OF_BRAND = 1_000;
const ROWS = BRANDS * FACTS_OF_BRAND;
const TARGET = 0.4;
const ROUNDS_MAX = 3;
const POOL_CLIENTS = 4;
const TAKEN_TOGETHER = 5_000;
const COPY_SCHEMA = 'copied';

interface Sample {
  readonly seconds: number;
  readonly projectorUs: number;
  readonly databaseUs: number;
}

/**
 * The radar's catch-up with a log of facts beside a raw COPY of the rows that it makes, into the same table with
 * the same indexes. Reading the facts from the event store is measured apart: a COPY has nothing to read.
 */
export async function run(context: BenchContext): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPool(servers.databaseUrl, POOL_CLIENTS);
  resources.defer(() => pool.end());
  await createProjectorTables(pool);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const appendedMs = performance.now();
  const head = await appendFacts(eventStore, BRANDS, FACTS_OF_BRAND);
  context.print(
    `projector: ${ROWS.toLocaleString('en')} facts into the radar beside raw COPY of its rows; medians of paired ` +
      `rounds. Facts appended in ${Math.round((performance.now() - appendedMs) / 1000)} s`,
  );

  await catchUp(servers, pool, head);
  const rows = await rowsOfRadar(pool);
  const timed = (work: () => Promise<void>): Promise<Sample> => measure(servers, pool, work);
  const rounds: Record<'copy' | 'read' | 'live' | 'rebuild', Sample>[] = [];
  for (let round = 0; round < Math.min(context.rounds, ROUNDS_MAX); round += 1) {
    await emptyCopy(pool);
    rounds.push({
      copy: await timed(() => copyRows(pool, rows)),
      read: await timed(() => readFacts(eventStore)),
      live: await timed(() => catchUp(servers, pool, head)),
      rebuild: await timed(() => rebuild(pool, eventStore)),
    });
  }

  const of = (name: 'copy' | 'read' | 'live' | 'rebuild', pick: (sample: Sample) => number) =>
    median(rounds.map((round) => pick(round[name])));
  for (const name of ['copy', 'read', 'live', 'rebuild'] as const) {
    const rate = perSecond(of(name, ({ seconds }) => ROWS / seconds)).padStart(9);
    const cpu = `CPU per fact: projector ${of(name, ({ projectorUs }) => projectorUs).toFixed(1)} us, servers ${of(name, ({ databaseUs }) => databaseUs).toFixed(1)} us`;
    context.print(`  ${name.padEnd(8)} ${of(name, ({ seconds }) => seconds).toFixed(2)} s  ${rate}  ${cpu}`);
  }
  for (const name of ['live', 'rebuild'] as const) {
    const ratio = median(
      rounds.map((round) => round.copy.seconds / (round[name].seconds - round.read.seconds)),
    );
    const whole = median(rounds.map((round) => round.copy.seconds / round[name].seconds));
    context.print(`  ${name}: ratio ${ratio.toFixed(2)} without reading, ${whole.toFixed(2)} with it`);
    context.record({
      bench: `projector: radar, ${name}`,
      measured: perSecond(median(rounds.map((round) => ROWS / (round[name].seconds - round.read.seconds)))),
      ceiling: perSecond(of('copy', ({ seconds }) => ROWS / seconds)),
      ratio,
      target: `>= ${TARGET}`,
      held: ratio >= TARGET,
    });
  }
}

/** A checkpoint first, so that no measurement pays for the writes of the one before it. */
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
    databaseUs: (usedSince(before, await serverTimes()) * 1000) / ROWS,
  };
}

/** As the projector process does it from an empty table: the path of every start. */
async function catchUp(servers: BenchServers, pool: Database, head: bigint): Promise<void> {
  await pool.query('drop schema if exists radar cascade');
  await pool.query('delete from projector.projection');
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

/** As a changed version is built: beside the live table, indexes last. */
async function rebuild(pool: Database, eventStore: EventStore): Promise<void> {
  await pool.query('delete from projector.build');
  await buildBeside(pool, eventStore, radar, new AbortController().signal);
}

async function readFacts(eventStore: EventStore): Promise<void> {
  await using follower = eventStore.follow({
    after: null,
    prefixes: radar.prefixes,
    bufferItems: TAKEN_TOGETHER * 2,
  });
  for (;;) {
    const items = await follower.take(TAKEN_TOGETHER);
    if (items.length === 0) throw new Error('The event store ended the reading.');
    if (items.some(({ kind }) => kind === 'caught_up')) return;
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

async function emptyCopy(pool: Database): Promise<void> {
  await inTransaction(pool, async (client) => {
    await createTables(client, radar, COPY_SCHEMA);
    await createIndexes(client, radar, COPY_SCHEMA);
  });
}

async function copyRows(pool: Database, rows: readonly Buffer[]): Promise<void> {
  await inTransaction(pool, async (client) => {
    const stream = client.query(copyFrom(`copy ${COPY_SCHEMA}.item from stdin`));
    const done = finished(stream);
    for (const chunk of rows) if (!stream.write(chunk)) await once(stream, 'drain');
    stream.end();
    await done;
  });
}

if (import.meta.main) {
  await run({ rounds: ROUNDS_ALONE, print: (line) => console.log(line), record: () => undefined });
  process.exit(0);
}
