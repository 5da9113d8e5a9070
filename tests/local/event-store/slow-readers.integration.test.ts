import { readFile } from 'node:fs/promises';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { createTestDatabase } from '#tests/stack/database.ts';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';

const LONG_MS = 120_000;
/** More than one page of large events: a page of 64 would have 58 MB. */
const EVENTS = 66;
const EVENT_BYTES = 900_000;
const READERS = 12;
/** Twelve pages of 64 events would take more than twice as much. */
const GROWTH_MAX_BYTES = 300 * 1024 * 1024;

/** Connects on a connection of its own: a slow reader holds up all others of its connection. */
const connect = (number: number): EventStoreDBClient =>
  EventStoreDBClient.connectionString(`${url}&keepAliveInterval=${20_000 + number}`);

const resources = new AsyncDisposableStack();
let store: ServiceProcess;
let url: string;
beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const port = await freePort();
  store = startProcess('deploy/local/event-store/main.ts', {
    EVENT_STORE_PORT: String(port),
    EVENT_STORE_DATABASE_URL: database.url,
  });
  resources.defer(() => store.kill());
  await store.says('event store listening');
  url = `esdb://127.0.0.1:${port}?tls=false`;
  const client = connect(0);
  const text = 'x'.repeat(EVENT_BYTES);
  for (let number = 0; number < EVENTS; number += 1) {
    await client.appendToStream('large-1', jsonEvent({ type: 'Large', data: { number, text } }));
  }
}, LONG_MS);
afterAll(() => resources.disposeAsync());

const residentBytes = async (): Promise<number> => {
  const status = await readFile(`/proc/${store.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
};

test('slow readers of large events take bounded memory, and get every event', {
  timeout: LONG_MS,
}, async () => {
  const before = await residentBytes();
  const readers = Array.from({ length: READERS }, (_, number) => {
    const reading = connect(number + 1).readStream('large-1');
    return reading[Symbol.asyncIterator]();
  });
  for (const reader of readers) await reader.next();
  expect((await residentBytes()) - before).toBeLessThan(GROWTH_MAX_BYTES);
  const [first, ...others] = readers;
  let count = 1;
  for (let next = await first?.next(); next && !next.done; next = await first?.next()) count += 1;
  expect(count).toBe(EVENTS);
  // The ends of the others are not awaited: a disposed client waits for calls that it does not read.
  for (const reader of others) void reader.return?.();
});
