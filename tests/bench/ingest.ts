import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { OBSERVATIONS_STREAM, observationSubject } from '#contracts/messages/subjects.ts';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { checkInLargeBody } from '#platform/nats/claim-check.ts';
import { headersFrom, type Nats, openNats } from '#platform/nats/connection.ts';
import { DOMAIN, type Scan, scanOfDay } from './ingest/scans.ts';
import { type BenchContext, median, scaled } from './runner/bench.ts';
import { peakMemoryMib, watchCpu } from './runner/cpu-time.ts';
import { type BenchServers, openPlainPool, startServers, startService } from './runner/servers.ts';

const ADS = scaled(10_000, 100);
const CHANGE = 0.02;
const TABLES_LISTED = 5;
const POLL_MS = 5;
const RECORDED_LIMIT_MS = 120_000;

/** Ends when the last message is acknowledged and the scan recorded. */
export const run = async (context: BenchContext<'ingest'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const nats = resources.use(await openNats(servers.natsUrl, 'bench'));
  const pool = openPlainPool(servers.databaseUrl, 1);
  resources.defer(() => pool.end());
  const ingest = startService(resources, servers, 'ingest', { LOG_LEVEL: 'info' });
  await ingest.says('ingest consumer started');
  const processes = {
    ingest: ingest.pid,
    'event store': servers.eventStore.pid,
    Postgres: servers.postmasterPid,
  };
  const measure = async (day: number) => {
    const cpuSince = await watchCpu(processes);
    const scan = scanOfDay(day, ADS, CHANGE);
    const seconds = await ingestScan(nats, scan);
    return { seconds, events: await eventsOf(servers, scan), cpu: await cpuSince() };
  };

  const first = await measure(0);
  context.record('first scan of 10,000 ads', first.seconds);
  const days: Awaited<ReturnType<typeof measure>>[] = [];
  for (let day = 1; day <= context.rounds; day += 1) days.push(await measure(day));
  context.record('scan of 10,000 ads, 2 % changed', median(days.map(({ seconds }) => seconds)));
  context.record('peak memory', await peakMemoryMib(ingest.pid));
  for (const name of Object.keys(processes) as (keyof typeof processes)[])
    context.record(`CPU of a scan, ${name}`, median(days.map(({ cpu }) => cpu[name])));
  context.print(
    `ingest: scans of ${ADS.toLocaleString('en')} ads, ${CHANGE * 100} % changed. First scan ${first.seconds.toFixed(2)} s, ` +
      `${first.events} events; later ones ${days.map(({ seconds }) => seconds.toFixed(2)).join(', ')} s, ` +
      `${median(days.map(({ events }) => events))} events`,
  );
  const { rows: sizes } = await pool.query<{ name: string; bytes: number }>(
    `select relname as name, pg_total_relation_size(oid)::float8 / (select count(*) from ingest.ad) as bytes from pg_class
     where relnamespace = 'ingest'::regnamespace and relkind = 'r' order by bytes desc`,
  );
  const largest = sizes.slice(0, TABLES_LISTED).map(({ name, bytes }) => `${name} ${bytes.toFixed(0)}`);
  context.print(
    `  working tables after ${context.rounds + 1} scans: ${sizes.reduce((sum, { bytes }) => sum + bytes, 0).toFixed(0)} bytes ` +
      `per ad, of which ${largest.join(', ')}`,
  );
};

/** Returns the seconds until the scan is recorded. */
export const ingestScan = async (nats: Nats, scan: Scan): Promise<number> => {
  const encoder = new TextEncoder();
  const messages = [...scan.chunks, scan.end].map((message) => ({
    data: encoder.encode(JSON.stringify(message)),
    headers: routingHeadersOf(message),
  }));
  const subject = observationSubject(DOMAIN);
  const startMs = performance.now();
  const publications = await Promise.all(
    messages.map((message) => checkInLargeBody(nats, { subject, ...message })),
  );
  await Promise.all(
    publications.map(({ data, headers }) =>
      nats.jetstream.publish(subject, data, { headers: headersFrom(headers) }),
    ),
  );
  await untilIngested(nats, RECORDED_LIMIT_MS);
  return (performance.now() - startMs) / 1000;
};

export const untilIngested = async (nats: Nats, limitMs: number): Promise<void> => {
  const deadline = performance.now() + limitMs;
  while ((await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages > 0) {
    if (performance.now() > deadline) throw new Error('The observations were not ingested in time.');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/** A dead-lettered scan leaves the queue too, so the log is counted. */
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
