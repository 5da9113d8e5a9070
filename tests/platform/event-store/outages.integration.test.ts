import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrandRegistered } from '#contracts/events/corpus/brand.ts';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import { type EventStore, openEventStore, type Recorded } from '#platform/event-store/event-store.ts';
import { createTestDatabase, type TestDatabase } from '#tests/stack/database.ts';

/** After an outage the next call goes on, found by gossip. */

const APPEND_LIMIT_MS = 30_000;

let database: TestDatabase;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  database = await createTestDatabase();
  resources.defer(() => database.drop());
});
afterAll(() => resources.disposeAsync());

const append = (store: EventStore): Promise<Recorded> => {
  const brand_id = randomUUID();
  const registered = {
    type: 'BrandRegistered',
    data: {
      brand_id,
      domain: `${brand_id}.example`,
      slug: brand_id,
      observed_at: '2026-05-01T08:00:00.000Z',
    },
  } as unknown as BrandRegistered;
  const metadata = eventMetadata({
    actor: serviceActor('tests'),
    correlationId: brand_id,
    causationId: brand_id,
  });
  return store.append(`brand-${brand_id}`, -1n, [registered], metadata, brand_id);
};

describe.for([
  ['one name to discover', (port: number) => `esdb+discover://127.0.0.1:${port}?tls=false`],
  [
    'a list of nodes',
    (port: number, other: number) => `esdb://127.0.0.1:${port},127.0.0.1:${other}?tls=false`,
  ],
  ['one node', (port: number) => `esdb://127.0.0.1:${port}?tls=false`],
] as const)('with %s', ([, urlOf]) => {
  test('appends and reads go on after the store was down', { timeout: 3 * APPEND_LIMIT_MS }, async () => {
    const port = await freePort();
    await using store = openEventStore(
      `${urlOf(port, await freePort())}&maxDiscoverAttempts=2&discoveryInterval=50`,
    );
    for (const outage of ['before the first append', 'under way']) {
      const appending = append(store);
      appending.catch(() => undefined);
      await expect(store.head(), outage).rejects.toThrow(/discover|ECONNREFUSED|No connection/);
      const server = await startEventStore({ databaseUrl: database.url, host: '127.0.0.1', port });
      try {
        expect((await appending).revision).toBe(0n);
        expect((await append(store)).revision).toBe(0n);
        expect(await store.head()).toBeGreaterThan(0n);
      } finally {
        await server.stop();
      }
    }
  });
});
