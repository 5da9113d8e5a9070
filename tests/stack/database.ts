import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { scratchNameOf } from '#application/as-of/scratch-database.ts';
import { startNats } from '#deploy/local/nats/start.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';

export type TestDatabase = { readonly url: string; drop(): Promise<void> };

export const urlOf = (name: string): string => {
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  return url.href;
};

/** A new connection for each statement would take longer than most of them. */
const CONNECTIONS_MAX = 4;
/** Maximum milliseconds of one of its statements, or of the wait for a connection, on a busy machine. */
const STATEMENT_LIMIT_MS = 120_000;
let maintenance: Database | null = null;

const run = async (statement: string): Promise<void> => {
  maintenance ??= openPool(inject('databaseUrl'), CONNECTIONS_MAX, {
    allowExitOnIdle: true,
    connectionTimeoutMillis: STATEMENT_LIMIT_MS,
    statement_timeout: STATEMENT_LIMIT_MS,
  });
  await maintenance.query(statement);
};

/** Empty, or a copy of a template. Copying files takes a third of the time of copying through the write-ahead log. */
export const createTestDatabase = async (template = 'template1'): Promise<TestDatabase> => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await run(`create database ${name} template ${template} strategy file_copy`);
  return {
    url: urlOf(name),
    // `force`: a test that failed half-way may have left connections open.
    drop: async () => {
      await run(`drop database if exists ${scratchNameOf(urlOf(name))} with (force)`);
      await run(`drop database if exists ${name} with (force)`);
    },
  };
};

/** Runs in this process, for tests that must not see events of others. */
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

/** Starts a server for tests whose streams must not hold messages of others. */
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
