import { EventStoreDBClient } from '@eventstore/db-client';
import { CHUNK_ADS_MAX } from '#contracts/observations/ad-library-scan.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { untilIngested } from '../ingest.ts';
import { PAGES, scanOfDay } from '../ingest/scans.ts';
import { catalogueScans, link, siteScan } from '../ingest/wide-observations.ts';
import { type BenchContext, measurePairs, perSecond, scaled } from '../runner/bench.ts';
import { sumCpu, watchCpu } from '../runner/cpu-time.ts';
import { openPlainPool, startServers, startService } from '../runner/servers.ts';

/** Brands with about 190 events each. */
const BRANDS = scaled(200, 4);
const DAYS = scaled(6, 2);
const ADS = Math.min(60, CHUNK_ADS_MAX);
const CHANGE = 0.4;
const TOOLS = 10;
const PRODUCTS = 20;
/** A replay takes a minute or two, so rounds are few. */
const ROUNDS_MAX = 2;
const PUBLISHERS = 8;
const FIRST_AD_ID = 600_000_000_000_000;
const FIRST_PAGE_ID = 200_000_000;
const INGESTED_LIMIT_MS = 600_000;
const PROJECTED_LIMIT_MS = 1_800_000;

const observationsOf = (brand: number): readonly Observation[] => {
  const domain = `replayed${brand}.example`;
  const scanned = {
    domain,
    firstAdId: FIRST_AD_ID + brand * 1_000_000,
    firstPageId: FIRST_PAGE_ID + brand * PAGES,
  };
  const profile: Observation = {
    type: 'brand.profile',
    domain,
    observed_at: '2026-01-01T00:00:00.000Z',
    name: `Brand ${brand}`,
    description: 'A shop for boots.',
    url: `https://${domain}/`,
    logo_url: null,
    country: 'US',
    category_path: ['Apparel', `Kind ${brand % 20}`],
    is_public: true,
    indexable: true,
  };
  return [
    profile,
    ...Array.from({ length: PAGES }, (_, page) => link(domain, String(scanned.firstPageId + page), page)),
    ...Array.from({ length: DAYS }, (_, day) => scanOfDay(day, ADS, CHANGE, scanned)).flatMap(
      ({ chunks, end }) => [...chunks, end],
    ),
    siteScan(domain, 0, TOOLS),
    siteScan(domain, 1, TOOLS),
    ...catalogueScans(domain, PRODUCTS),
  ];
};

const publish = async (nats: Nats): Promise<void> => {
  let next = 0;
  const publisher = async (): Promise<void> => {
    for (let brand = next++; brand < BRANDS; brand = next++)
      await publishObservations(nats, observationsOf(brand));
  };
  await Promise.all(Array.from({ length: PUBLISHERS }, publisher));
  await untilIngested(nats, INGESTED_LIMIT_MS);
};

/** The ceiling is one reading of the same log by the official client. */
export const run = async (context: BenchContext<'replay'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const nats = resources.use(await openNats(servers.natsUrl, 'bench'));
  const ingest = startService(resources, servers, 'ingest', { LOG_LEVEL: 'info' });
  await ingest.says('ingest consumer started');
  await publish(nats);
  await ingest.stop();
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const head = await eventStore.head();
  const client = EventStoreDBClient.connectionString(servers.eventStore.url);
  resources.defer(() => client.dispose());
  const processes = { 'event store': servers.eventStore.pid, Postgres: servers.postmasterPid };

  const readLog = async () => {
    const cpuSince = await watchCpu(processes);
    const startMs = performance.now();
    let events = 0;
    for await (const { event } of client.readAll()) if (event && !event.type.startsWith('$')) events += 1;
    return {
      events,
      seconds: (performance.now() - startMs) / 1_000,
      cpu: { ...(await cpuSince()), projector: 0 },
    };
  };
  const { events } = await readLog();
  context.print(`replay: ${events.toLocaleString('en')} events of ${BRANDS} brands into all read models`);

  let round = 0;
  const replay = async () => {
    round += 1;
    const DATABASE_URL = await servers.createDatabase(`replay_${round}`);
    const pool = openPlainPool(DATABASE_URL, 1);
    await using stopping = new AsyncDisposableStack();
    stopping.defer(() => pool.end());
    const startMs = performance.now();
    const postgresSince = await watchCpu(processes);
    const projector = startService(stopping, servers, 'projector', { DATABASE_URL });
    const projectorSince = await watchCpu({ projector: projector.pid });
    await untilPassed(pool, head, PROJECTED_LIMIT_MS);
    const seconds = (performance.now() - startMs) / 1_000;
    return { events, seconds, cpu: { ...(await postgresSince()), ...(await projectorSince()) } };
  };
  const pairs = await measurePairs(Math.min(context.rounds, ROUNDS_MAX), readLog, replay, 0);
  const rate = pairs.of(({ seconds }) => events / seconds);
  context.record('all read models, from an empty database', rate.measured, rate.ceiling, rate.ratio);
  const usOf = (pick: (cpu: Readonly<Record<string, number>>) => number) =>
    pairs.of(({ cpu }) => (pick(cpu) * 1_000) / events);
  const all = usOf(sumCpu);
  context.record('CPU of an event, all processes', all.measured, all.ceiling, all.ratio);
  for (const name of ['event store', 'projector', 'Postgres'])
    context.record(`CPU of an event, ${name}`, usOf((cpu) => cpu[name] ?? 0).measured);
  context.print(`  ${perSecond(rate.measured)}; reading the log once ${perSecond(rate.ceiling)}`);
};
