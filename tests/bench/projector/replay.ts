import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { publishObservations } from '#deploy/local/demo/publish-observations.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openNats } from '#platform/nats/connection.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { requestVerification, watchVerification } from '#services/ops/projections.ts';
import { nextSchemaOf, schemaOf } from '#application/read-models/schema.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { type BenchContext, perSecond, scaled } from '../runner/bench.ts';
import { peakMemoryMib, sumCpu, watchCpu } from '../runner/cpu-time.ts';
import { type BenchServers, openPlainPool, startServers, startService } from '../runner/servers.ts';
import { type FollowedEvent, readEvents, rebuildFromMemory } from './from-memory.ts';

/** The mix of the demo: about 2.6 events for each ad. */
const ADS = scaled(30_000, 150);
const SIZE = { seed: 7, brands: Math.max(4, Math.round(ADS / 100)), ads: ADS, days: 30 };
const UNTIL = '2026-06-01';
const PROJECTED_LIMIT_MS = 1_800_000;

interface Sample {
  readonly seconds: number;
  /** Milliseconds by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

/**
 * Compares a first fill and a verification of all read models with reading the log and with COPY of their rows. Then
 * builds each read model alone, from memory, for its share of the CPU time.
 */
export const run = async (context: BenchContext<'replay'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  await record(resources, servers);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const head = await eventStore.head();
  const client = EventStoreDBClient.connectionString(servers.eventStore.url);
  resources.defer(() => client.dispose());
  const pool = openPlainPool(servers.databaseUrl, projections.length);
  resources.defer(() => pool.end());

  let events = 0;
  const reading = await measure(servers, process.pid, async () => {
    for await (const { event } of client.readAll()) if (event && !event.type.startsWith('$')) events += 1;
  });
  const usOf = (ms: number): number => (ms * 1_000) / events;
  context.record('CPU of an event, reading alone', usOf(sumCpu(reading.cpu)));

  await pool.query('checkpoint');
  const projector = startService(resources, servers, 'projector', { LOG_LEVEL: 'warn' });
  const filling = await measure(servers, projector.pid, () => untilPassed(pool, head, PROJECTED_LIMIT_MS));
  const filledMib = await peakMemoryMib(projector.pid);
  const verifying = await measure(servers, projector.pid, () => verifyAll(pool));
  const verifiedMib = await peakMemoryMib(projector.pid);
  // Otherwise it would go on with the builds of this process.
  await projector.stop();
  const read = await readEvents(eventStore, [...new Set(projections.flatMap(({ prefixes }) => prefixes))]);
  const readModels = await measureReadModels(servers, pool, read);
  const total = (pick: (one: ReadModel) => number): number =>
    readModels.reduce((sum, one) => sum + pick(one), 0);
  const rows = total((one) => one.rows);
  const building = sumOf(readModels.map((one) => one.building));
  const copying = sumOf(readModels.map((one) => one.copying));

  context.print(
    `replay: ${events.toLocaleString('en')} events of ${SIZE.brands} brands into ${rows.toLocaleString('en')} rows ` +
      `of ${projections.length} read models; peak memory of the projector: ${filledMib.toFixed(0)} MiB filled, ` +
      `${verifiedMib.toFixed(0)} MiB verified`,
  );
  for (const [name, sample] of Object.entries({
    reading,
    filling,
    verifying,
    copying,
    'building alone': building,
  })) {
    context.print(
      `  ${name.padEnd(14)} ${sample.seconds.toFixed(1)} s  ${perSecond(events / sample.seconds)}  ` +
        `CPU of an event, µs: ${shares(sample, usOf)}`,
    );
  }
  const byCost = readModels.toSorted((a, b) => sumCpu(b.building.cpu) - sumCpu(a.building.cpu));
  for (const one of byCost) {
    context.print(
      `  ${one.name.padEnd(20)} ${one.rows.toLocaleString('en').padStart(10)} rows of ` +
        `${(one.bytes / Math.max(1, one.rows)).toFixed(0).padStart(5)} bytes  ` +
        `CPU of an event of the log, µs: ${shares(one.building, usOf)}; COPY: ${shares(one.copying, usOf)}`,
    );
  }
  context.record('all read models', events / filling.seconds, events / reading.seconds);
  context.record(
    'CPU of an event, all processes',
    usOf(sumCpu(filling.cpu)),
    usOf(sumCpu(reading.cpu) + sumCpu(copying.cpu)),
  );
  for (const [name, ms] of Object.entries(filling.cpu)) context.record(`CPU of an event, ${name}`, usOf(ms));
  context.record('verification of all', verifying.seconds, filling.seconds);
  context.record('bytes of a row', total(({ bytes }) => bytes) / rows);
  context.record('peak memory of the projector', Math.max(filledMib, verifiedMib));
};

function sumOf(samples: readonly Sample[]): Sample {
  const cpu: Record<string, number> = {};
  for (const [name, ms] of samples.flatMap((one) => Object.entries(one.cpu)))
    cpu[name] = (cpu[name] ?? 0) + ms;
  return { seconds: samples.reduce((sum, { seconds }) => sum + seconds, 0), cpu };
}

const shares = ({ cpu }: Sample, usOf: (ms: number) => number): string =>
  Object.entries(cpu)
    .map(([process, ms]) => `${process} ${usOf(ms).toFixed(1)}`)
    .join(', ');

async function record(resources: AsyncDisposableStack, servers: BenchServers): Promise<void> {
  const nats = resources.use(await openNats(servers.natsUrl, 'bench'));
  const ingest = startService(resources, servers, 'ingest', { LOG_LEVEL: 'info' });
  await ingest.says('ingest consumer started');
  const observations = demoObservations({ ...SIZE, until: UNTIL, pictures: false });
  await publishObservations(nats, observations, 0, new AbortController().signal, () => undefined);
  await ingest.stop();
}

/** Measures the event store, Postgres and one more process. */
async function measure(servers: BenchServers, pid: number, work: () => Promise<void>): Promise<Sample> {
  const cpuSince = await watchCpu({
    'event store': servers.eventStore.pid,
    Postgres: servers.postmasterPid,
    projector: pid,
  });
  const startMs = performance.now();
  await work();
  return { seconds: (performance.now() - startMs) / 1_000, cpu: await cpuSince() };
}

async function verifyAll(pool: Database): Promise<void> {
  const signal = AbortSignal.timeout(PROJECTED_LIMIT_MS);
  await Promise.all(
    projections.map(async ({ name }) => {
      await requestVerification(pool, name, { to: null, by: 'bench' });
      const verification = await watchVerification(pool, name, () => undefined, signal);
      if (verification?.state !== 'passed')
        throw new Error(`The tables of ${name} do not equal a replay: ${JSON.stringify(verification)}`);
    }),
  );
}

interface ReadModel {
  readonly name: string;
  readonly rows: number;
  /** Includes indexes. */
  readonly bytes: number;
  readonly building: Sample;
  readonly copying: Sample;
}

/** CPU time is that of this process, as the projector, and of one or all sessions of Postgres. */
async function measureOwn(postgresPid: number, work: () => Promise<void>): Promise<Sample> {
  const cpuSince = await watchCpu({ Postgres: postgresPid });
  const startMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startMs) / 1_000;
  return { seconds, cpu: { projector: (user + system) / 1_000, ...(await cpuSince()) } };
}

async function measureReadModels(
  servers: BenchServers,
  pool: Database,
  events: readonly FollowedEvent[],
): Promise<readonly ReadModel[]> {
  const measured: ReadModel[] = [];
  for (const projection of projections) {
    const copied = await copyRows(pool, projection.name);
    const building = await measureOwn(servers.postmasterPid, () =>
      rebuildFromMemory(pool, projection, events),
    );
    await pool.query(`drop schema "${nextSchemaOf(projection.name)}" cascade`);
    measured.push({ name: projection.name, ...copied, building });
  }
  return measured;
}

/** COPY of the rows of a read model into tables without keys or indexes. Only that session of Postgres counts. */
async function copyRows(pool: Database, name: string): Promise<Omit<ReadModel, 'name' | 'building'>> {
  const { rows: tables } = await pool.query<{ table: string; bytes: number }>(
    `select format('%I.%I', schemaname, tablename) as "table",
       pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)::float8 as bytes
     from pg_tables where schemaname = $1`,
    [schemaOf(name)],
  );
  return inTransaction(pool, async (client) => {
    let rows = 0;
    const copies: { readonly into: string; readonly chunks: readonly Buffer[] }[] = [];
    for (const [index, { table }] of tables.entries()) {
      const into = `copied_${index}`;
      await client.query(`create table public.${into} as select * from ${table} limit 0`);
      const chunks: Buffer[] = [];
      const out = client.query(copyTo(`copy (select * from ${table}) to stdout`));
      for await (const chunk of out) chunks.push(chunk as Buffer);
      rows += out.rowCount;
      copies.push({ into, chunks });
    }
    const session = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const copying = await measureOwn(session.rows[0]?.pid ?? 0, async () => {
      for (const { into, chunks } of copies) {
        const stream = client.query(copyFrom(`copy public.${into} from stdin`));
        const done = finished(stream);
        for (const chunk of chunks) if (!stream.write(chunk)) await once(stream, 'drain');
        stream.end();
        await done;
      }
    });
    for (const { into } of copies) await client.query(`drop table public.${into}`);
    return { rows, bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0), copying };
  });
}
