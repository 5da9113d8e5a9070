import { Client } from 'pg';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { OBSERVATIONS_STREAM, observationSubject } from '#contracts/messages/subjects.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { checkInLargeBody } from '#platform/nats/claim-check.ts';
import { headersFrom, type Nats, openNats } from '#platform/nats/connection.ts';
import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { type BenchContext, median, ROUNDS, scaled } from './bench.ts';
import { type CpuTimes, cpuTimes, peakMemoryMib, usedSince } from './cpu-time.ts';
import { DOMAIN, type Scan, scanOfDay } from './ingest/scans.ts';
import { type BenchServers, startServers } from './servers.ts';

const ADS = scaled(10_000, 100);
const CHANGE = 0.02;
const SECONDS_MAX = 2;
const PEAK_MAX_MIB = 300;
const TABLES_LISTED = 5;
const POLL_MS = 5;
const RECORDED_LIMIT_MS = 120_000;
const INGEST = 'services/ingest/main.ts';

interface Sample {
  readonly seconds: number;
  readonly events: number;
  readonly ingestMs: number;
  readonly eventStoreMs: number;
  readonly eventStoreDatabaseMs: number;
  readonly workingTablesMs: number;
}

/** Returns the bytes of the working tables with their indexes, by table, the largest first. */
const tableSizes = async (database: Client) =>
  (
    await database.query<{ name: string; bytes: number }>(
      `select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
       where relnamespace = 'ingest'::regnamespace and relkind = 'r' order by bytes desc`,
    )
  ).rows;

/**
 * Sends large scans through the queue to a real ingest process. Measures from the publication of the first chunk
 * until the queue is empty. The last message is then acknowledged and the scan recorded.
 */
export async function run(context: BenchContext): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const nats = resources.use(await openNats(servers.natsUrl, 'bench'));
  const database = new Client({ connectionString: servers.databaseUrl });
  await database.connect();
  resources.defer(() => database.end());
  const ingest = startProcess(INGEST, servers.environment);
  resources.defer(() => ingest.kill());
  await ingest.says('ingest consumer started');
  const pid = ingest.child.pid ?? 0;

  const baseline = await measure(servers, database, nats, pid, scanOfDay(0, ADS, CHANGE));
  context.print(
    `ingest: scans of ${ADS.toLocaleString('en')} ads, ${CHANGE * 100} % changed. ` +
      `First scan: ${baseline.seconds.toFixed(2)} s, ${baseline.events} events`,
  );
  const samples: Sample[] = [];
  for (let day = 1; day <= context.rounds; day += 1) {
    samples.push(await measure(servers, database, nats, pid, scanOfDay(day, ADS, CHANGE)));
  }
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick));
  const seconds = of((sample) => sample.seconds);
  const peakMib = await peakMemoryMib(pid);
  context.print(
    `  later scans: ${seconds.toFixed(2)} s (${samples.map((sample) => sample.seconds.toFixed(2)).join(', ')}), ` +
      `${of((sample) => sample.events)} events, peak memory ${peakMib.toFixed(0)} MiB`,
  );
  context.print(
    `  CPU per scan: ingest ${of((sample) => sample.ingestMs)} ms, event store ${of((sample) => sample.eventStoreMs)} ms, ` +
      `PostgreSQL for the event store ${of((sample) => sample.eventStoreDatabaseMs)} ms, ` +
      `for the working tables ${of((sample) => sample.workingTablesMs)} ms`,
  );
  const sizes = await tableSizes(database);
  const { rows } = await database.query<{ ads: number }>('select count(*)::int as ads from ingest.ad');
  const bytesOfAd = sizes.reduce((sum, { bytes }) => sum + bytes, 0) / (rows[0]?.ads ?? 1);
  context.print(
    `  working tables of ${rows[0]?.ads} ads after ${context.rounds + 1} scans: ${bytesOfAd.toFixed(0)} bytes per ad, of which ` +
      sizes
        .slice(0, TABLES_LISTED)
        .map(({ name, bytes }) => `${name} ${(bytes / (rows[0]?.ads ?? 1)).toFixed(0)}`)
        .join(', '),
  );
  context.record({
    bench: 'ingest: scan of 10,000 ads',
    measured: `${seconds.toFixed(2)} s`,
    ceiling: '-',
    ratio: null,
    target: `<= ${SECONDS_MAX} s`,
    held: seconds <= SECONDS_MAX,
  });
  context.record({
    bench: 'ingest: peak memory',
    measured: `${peakMib.toFixed(0)} MiB`,
    ceiling: '-',
    ratio: null,
    target: `<= ${PEAK_MAX_MIB} MiB`,
    held: peakMib <= PEAK_MAX_MIB,
  });
}

async function measure(
  servers: BenchServers,
  database: Client,
  nats: Nats,
  ingestPid: number,
  scan: Scan,
): Promise<Sample> {
  const encoder = new TextEncoder();
  const messages = [...scan.chunks, scan.end].map((message) => ({
    data: encoder.encode(JSON.stringify(message)),
    headers: routingHeadersOf(message),
  }));
  const subject = observationSubject(DOMAIN);
  const before = await cpuTimes(() => true);
  const startMs = performance.now();
  const publications = await Promise.all(
    messages.map((message) => checkInLargeBody(nats, { subject, ...message })),
  );
  await Promise.all(
    publications.map(({ data, headers }) =>
      nats.jetstream.publish(subject, data, { headers: headersFrom(headers) }),
    ),
  );
  const limitMs = startMs + RECORDED_LIMIT_MS;
  while ((await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages > 0) {
    if (performance.now() > limitMs) throw new Error('The scan was not recorded in time.');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const seconds = (performance.now() - startMs) / 1000;
  const after = await cpuTimes(() => true);
  const databaseOf = await databasesOfBackends(database);
  const used = (belongs: (pid: number) => boolean) => usedSince(before, only(after, belongs));
  return {
    seconds,
    events: await eventsOf(servers, scan),
    ingestMs: used((pid) => pid === ingestPid),
    eventStoreMs: used((pid) => pid === servers.eventStore.pid),
    eventStoreDatabaseMs: used((pid) => databaseOf.get(pid) === 'event_store'),
    workingTablesMs: used((pid) => databaseOf.get(pid) === 'read_models'),
  };
}

function only(times: CpuTimes, belongs: (pid: number) => boolean): CpuTimes {
  return new Map([...times].filter(([pid]) => belongs(pid)));
}

async function databasesOfBackends(database: Client): Promise<ReadonlyMap<number, string>> {
  const { rows } = await database.query<{ pid: number; datname: string }>(
    'select pid, datname from pg_stat_activity where datname is not null',
  );
  return new Map(rows.map(({ pid, datname }) => [pid, datname]));
}

/**
 * Counts the scan's events in the log. An empty queue alone proves nothing, because a dead-lettered scan leaves the
 * queue too.
 */
async function eventsOf(servers: BenchServers, scan: Scan): Promise<number> {
  await using eventStore = openEventStore(servers.eventStore.url);
  let events = 0;
  let ended = false;
  for await (const event of eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(DOMAIN)))) {
    if (event.data.scan_id !== scan.end.scan_id) continue;
    events += 1;
    ended ||= event.type === 'ScanRecorded';
  }
  if (!ended) throw new Error('The scan left the queue without being recorded.');
  return events;
}

if (import.meta.main) {
  await run({ rounds: ROUNDS, print: (line) => console.log(line), record: () => undefined });
  process.exit(0);
}
