import { Metadata, status } from '@grpc/grpc-js';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { silentLog } from '#platform/logger.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { OtherLog, checkKnownLog, findOtherLog } from '#platform/process/wait-for-servers.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/database.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { startProcess } from '../../stack/processes.ts';
import { startStubServer } from '../event-store/stub-server.ts';

const SERVICES = join(import.meta.dirname, '../../../services');
/** Processes without the check: `ops` adopts a log that no process accepts yet. */
const WITHOUT_CHECK = new Set(['ops']);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const pool = openPool(database.url, 1);
  await pool.query(`create schema run;
    create table run.known_event (
      is_only boolean primary key default true, position bigint not null, event_id uuid not null)`);
  // No test reaches this position.
  await pool.query('insert into run.known_event (position, event_id) values ($1, $2)', [
    10 ** 15,
    randomUUID(),
  ]);
  await pool.end();
});
afterAll(() => database.drop());

const urls = () => ({ DATABASE_URL: database.url, EVENT_STORE_URL: inject('eventStoreUrl') });

test('a process that serves without an event store does not start on a log that its database was not computed from', async () => {
  const api = startProcess('services/api/main.ts', {
    ...urls(),
    NATS_URL: `nats://127.0.0.1:${await freePort()}`,
    API_PORT: String(await freePort()),
    CURSOR_SECRET: 'a secret for tests only',
  });
  await api.says('log adopt');
  await expect.poll(() => api.child.exitCode, { timeout: 20_000 }).toBe(1);
  expect(api.output()).not.toContain('"listening"');
});

test('a process that started while the event store was gone learns of a wrong log later', async () => {
  const late = Promise.withResolvers<unknown>();
  await checkKnownLog(silentLog(), new AbortController().signal, urls(), 0, late.resolve);
  expect(await late.promise).toBeInstanceOf(OtherLog);
});

test('an event store that refuses the user is not taken for one with another log', async () => {
  const metadata = new Metadata();
  metadata.set('exception', 'access-denied');
  await using server = await startStubServer({
    onRead: (call) =>
      call.emit('error', { code: status.PERMISSION_DENIED, details: 'Access Denied', metadata }),
  });
  await expect(findOtherLog(database.url, server.url)).rejects.toMatchObject({ name: 'EventStoreDenied' });
});

/** Opened alike by the processes that run operations. */
const OPENED_BY_OPERATIONS = readFileSync(
  join(SERVICES, 'operations/dependencies/open-resources.ts'),
  'utf8',
);

test('every process that uses the event store checks its log at the start', () => {
  const mains = readdirSync(SERVICES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !WITHOUT_CHECK.has(entry.name))
    .flatMap(({ name }) => {
      try {
        const main = readFileSync(join(SERVICES, name, 'main.ts'), 'utf8');
        return [
          { name, text: main.includes('openOperationResources(') ? main + OPENED_BY_OPERATIONS : main },
        ];
      } catch {
        return [];
      }
    })
    .filter(({ text }) => text.includes('openEventStore(') || /runProjector|EVENT_STORE_URL/.test(text));
  const unchecked = mains.filter(
    ({ text }) => !/(?:checkKnownLog|waitForServers)\(log, signal, \{[^}]*EVENT_STORE_URL/.test(text),
  );
  expect(mains.map(({ name }) => name)).toEqual(expect.arrayContaining(['api', 'mcp', 'ingest', 'worker']));
  expect(unchecked.map(({ name }) => name)).toEqual([]);
});
