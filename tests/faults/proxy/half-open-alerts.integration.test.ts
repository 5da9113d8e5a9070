import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { scanEvents } from '../../alerts/stack.ts';
import { METADATA } from '../../delivery/new-delivery.ts';
import { openReceivers, type Receivers } from '../../delivery/receivers.ts';
import { createWebhookRules, VAULT_KEY } from '../../delivery/webhook-rules.ts';
import { until } from '../../stack/wait-until.ts';
import { type AlertingStack, openAlertingStack } from '../alerting-stack.ts';

/** Limit of an alert on a busy machine. On a quiet one, dead connections are found within 40 s. */
const ARRIVES_MS = 120_000;

let stack: AlertingStack;
let receivers: Receivers;
let eventStore: EventStore;
let brandId = '';
let revision = -1n;
let scans = 0;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openAlertingStack('half-open', VAULT_KEY));
  receivers = resources.use(await openReceivers());
  eventStore = resources.use(openEventStore(stack.eventStoreUrl));
  const pool = openPool(stack.databaseUrl, 1);
  resources.defer(() => pool.end());
  await createDeliveryTables(pool);
  const [rule] = await createWebhookRules(eventStore, pool, 'ws_half_open', [`${receivers.url}/rule`]);
  brandId = rule?.brandId ?? '';
});
afterAll(() => resources.disposeAsync());

/** Returns once the alert of a new ad has arrived. */
const arrives = async (): Promise<void> => {
  const events = scanEvents(brandId, new Date(Date.now() + scans).toISOString(), 1);
  const stream = adLibraryStream(brandId);
  ({ revision } = await eventStore.append(stream, revision, events, METADATA, randomUUID()));
  scans += 1;
  const arrived = (): number => new Set(receivers.received.map(({ headers }) => headers['webhook-id'])).size;
  await until(`alert ${scans}`, ARRIVES_MS, () => arrived() === scans).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}\n${stack.output()}`);
  });
};

test.for(['postgres', 'eventStore', 'nats'] as const)(
  'alerts arrive after all connections to one server died without a word: %s',
  { timeout: 3 * ARRIVES_MS },
  async (server) => {
    await arrives();
    stack.proxies[server].halfOpen();
    await arrives();
  },
);
