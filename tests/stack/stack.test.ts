import { connect } from 'nats';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { createTestDatabase, createTestNats } from './database.ts';

describe('the test stack', () => {
  test('gives each caller a database of its own', async () => {
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

  test('has a NATS server with JetStream, and gives another of its own', async () => {
    const own = await createTestNats();
    try {
      for (const url of [inject('natsUrl'), own.url]) {
        const connection = await connect({ servers: url });
        const account = await (await connection.jetstreamManager()).getAccountInfo();
        expect(account.streams).toBe(0);
        await connection.close();
      }
    } finally {
      await own.stop();
    }
  });
});
