import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { startNats } from '#deploy/local/nats/start.ts';

/** A database of one test. */
export type TestDatabase = { readonly url: string; drop(): Promise<void> };

/** Returns the connection string of a database of the shared cluster. */
export const urlOf = (name: string): string => {
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  return url.href;
};

/**
 * Creates a database on the shared cluster: empty, or a copy of a template. Its files are copied, which takes a third of the
 * time of copying through the write-ahead log.
 */
export const createTestDatabase = async (template: string | null = null): Promise<TestDatabase> => {
  const maintenance = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const copy = template === null ? '' : ` template ${template} strategy file_copy`;
  await run(maintenance, `create database ${name}${copy}`);
  return {
    url: urlOf(name),
    // `force`: a test that failed half-way may have left connections open.
    drop: () => run(maintenance, `drop database if exists ${name} with (force)`),
  };
};

/** Starts an empty event store in this process, for tests that must not see events of others. */
export const createTestEventStore = async (): Promise<{ url: string; stop(): Promise<void> }> => {
  const database = await createTestDatabase();
  const store = await startEventStore({ databaseUrl: database.url, host: '127.0.0.1', port: 0 });
  return {
    url: store.url,
    stop: async () => {
      await store.stop();
      await database.drop();
    },
  };
};

/** Starts a NATS server, for tests whose streams must not hold messages of others. */
export const createTestNats = async (): Promise<{ url: string; stop(): Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), `test-nats-${process.pid}-`));
  const nats = await startNats({ folder, port: 0 });
  return {
    url: nats.url,
    stop: async () => {
      await nats.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const run = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};
