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
import { schemaOf } from '#services/projector/read-model-schema.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { type BenchContext, perSecond, scaled } from '../runner/bench.ts';
import { peakMemoryMib, sumCpu, watchCpu } from '../runner/cpu-time.ts';
import { type BenchServers, openPlainPool, startServers, startService } from '../runner/servers.ts';

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

/** Compares a first fill and a verification of all read models with reading the log and with COPY of their rows. */
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
  const memoryMib = await peakMemoryMib(projector.pid);
  const verifying = await measure(servers, projector.pid, () => verifyAll(pool));
  const { rows, bytes, copying } = await copyRows(servers, pool);

  context.print(
    `replay: ${events.toLocaleString('en')} events of ${SIZE.brands} brands into ${rows.toLocaleString('en')} rows ` +
      `of ${projections.length} read models`,
  );
  for (const [name, sample] of Object.entries({ reading, filling, verifying, copying })) {
    const shares = Object.entries(sample.cpu).map(([process, ms]) => `${process} ${usOf(ms).toFixed(0)}`);
    context.print(
      `  ${name.padEnd(10)} ${sample.seconds.toFixed(1)} s  ${perSecond(events / sample.seconds)}  ` +
        `CPU of an event, µs: ${shares.join(', ')}`,
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
  context.record('bytes of a row', bytes / rows);
  context.record('peak memory of the projector', memoryMib);
};

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

/** COPY of all rows into tables without keys or indexes, one read model after another. */
async function copyRows(servers: BenchServers, pool: Database) {
  let rows = 0;
  let bytes = 0;
  let seconds = 0;
  const cpu = { Postgres: 0, projector: 0 };
  for (const { name } of projections) {
    const { rows: tables } = await pool.query<{ table: string; bytes: number; rows: number }>(
      `select format('%I.%I', schemaname, tablename) as "table",
         pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)::float8 as bytes
       from pg_tables where schemaname = $1`,
      [schemaOf(name)],
    );
    await inTransaction(pool, async (client) => {
      const copies: { readonly into: string; readonly chunks: readonly Buffer[] }[] = [];
      for (const [index, one] of tables.entries()) {
        const into = `copied_${index}`;
        await client.query(`create table public.${into} as select * from ${one.table} limit 0`);
        const chunks: Buffer[] = [];
        const out = client.query(copyTo(`copy (select * from ${one.table}) to stdout`));
        for await (const chunk of out) chunks.push(chunk as Buffer);
        rows += out.rowCount;
        bytes += one.bytes;
        copies.push({ into, chunks });
      }
      const cpuSince = await watchCpu({ Postgres: servers.postmasterPid });
      const startMs = performance.now();
      const ownBefore = process.cpuUsage();
      for (const { into, chunks } of copies) {
        const stream = client.query(copyFrom(`copy public.${into} from stdin`));
        const done = finished(stream);
        for (const chunk of chunks) if (!stream.write(chunk)) await once(stream, 'drain');
        stream.end();
        await done;
      }
      const own = process.cpuUsage(ownBefore);
      seconds += (performance.now() - startMs) / 1_000;
      cpu.projector += (own.user + own.system) / 1_000;
      cpu.Postgres += (await cpuSince()).Postgres;
      for (const { into } of copies) await client.query(`drop table public.${into}`);
    });
  }
  return { rows, bytes, copying: { seconds, cpu } satisfies Sample };
}
