import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { publishObservations } from '#deploy/local/demo/publish-observations.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { openNats } from '#platform/nats/connection.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createTestDatabase, createTestEventStore, createTestNats } from '../stack/database.ts';
import { type FaultProxy, proxied } from './fault-proxy.ts';
import { untilPassed } from '../stack/read-models.ts';
import { type RunningService, startService } from '../stack/service.ts';

/** Processes behind a proxy to Postgres must go on after each fault, without a restart. */

const START_LIMIT_MS = 60_000;
/** Limit of finding dead connections: 20 s for a statement, or for a server to miss its client. */
const FOUND_MS = 40_000;
const MUTE_MS = 3_000;
const TEST_LIMIT_MS = 90_000;

const resources = new AsyncDisposableStack();
const observations = [...demoObservations({ seed: 5, brands: 2, ads: 60, days: 8, until: '2026-10-01' })];
let published = 0;
let proxy: FaultProxy;
let service: RunningService;
let database: Database;
let eventStore: EventStore;
let natsUrl: string;

beforeAll(async () => {
  const created = await createTestDatabase();
  resources.defer(() => created.drop());
  const [store, nats] = [await createTestEventStore(), await createTestNats()];
  resources.defer(() => store.stop());
  resources.defer(() => nats.stop());
  natsUrl = nats.url;
  const through = await proxied(created.url);
  proxy = resources.use(through.proxy);
  database = openPool(created.url, 2);
  resources.defer(() => database.end());
  eventStore = resources.use(openEventStore(store.url));
  const servers = { DATABASE_URL: through.url, EVENT_STORE_URL: store.url, NATS_URL: nats.url };
  service = resources.use(await startService(servers, {}, ['ingest', 'projector']));
  await service.ready();
}, START_LIMIT_MS);
afterAll(() => resources.disposeAsync());

/** Returns once all read models have the events of all. */
const goesOn = async (): Promise<void> => {
  await using nats = await openNats(natsUrl, 'test');
  const next = observations.slice(0, published + Math.ceil(observations.length / 4));
  const before = await eventStore.head();
  // Resolves once the queue is empty: ingest has taken every observation.
  await publishObservations(nats, next, published, AbortSignal.timeout(FOUND_MS), () => undefined);
  published = next.length;
  const head = await eventStore.head();
  expect(head).toBeGreaterThan(before);
  await untilPassed(database, head, FOUND_MS);
};

test(
  'ingest and projector go on after the connections died without a word',
  async () => {
    await goesOn();
    proxy.halfOpen();
    await goesOn();
    service.assertAllRun();
  },
  TEST_LIMIT_MS,
);

test(
  'ingest and projector go on after Postgres was mute',
  async () => {
    proxy.set('mute');
    await pause(MUTE_MS);
    proxy.set('pass');
    await goesOn();
    service.assertAllRun();
  },
  TEST_LIMIT_MS,
);
