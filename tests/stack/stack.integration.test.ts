import { metadataOf } from '#tests/dsl/metadata.ts';
import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { natsOptions } from '#platform/nats/connection-url.ts';
import { createTestDatabase, createTestEventStore, createTestNats } from './database.ts';

describe('the test stack', () => {
  test('gives each caller its own database', async () => {
    const first = await createTestDatabase();
    const second = await createTestDatabase();
    try {
      expect(first.url).not.toBe(second.url);
      const client = new pg.Client({ connectionString: first.url });
      await client.connect();
      const { rows } = await client.query('select current_database() as name');
      await client.end();
      expect(first.url).toContain(rows[0].name);
    } finally {
      await first.drop();
      await second.drop();
    }
  });

  test('has a shared NATS server with JetStream, and starts separate ones', async () => {
    const own = await createTestNats();
    try {
      const streamsOf = async (url: string): Promise<number> => {
        const connection = await connect(natsOptions(url));
        const account = await (await connection.jetstreamManager()).getAccountInfo();
        await connection.close();
        return account.streams;
      };
      // Other tests may have created streams on the shared server by now.
      expect(await streamsOf(inject('natsUrl'))).toBeGreaterThanOrEqual(0);
      expect(await streamsOf(own.url)).toBe(0);
    } finally {
      await own.stop();
    }
  });

  test('has a shared event store, and starts separate ones that do not see its events', async () => {
    const own = await createTestEventStore();
    try {
      await using shared = openEventStore(inject('eventStoreUrl'));
      await using separate = openEventStore(own.url);
      const stream = `testStack-${randomUUID()}`;
      const metadata = metadataOf(stream);
      await shared.append(stream, -1n, [{ type: 'StackTested', data: {} }], metadata, stream);
      const typesIn = async (store: EventStore): Promise<string[]> => {
        const types: string[] = [];
        for await (const { type } of store.read(stream)) types.push(type);
        return types;
      };
      expect(await typesIn(shared)).toEqual(['StackTested']);
      expect(await typesIn(separate)).toEqual([]);
    } finally {
      await own.stop();
    }
  });
});
