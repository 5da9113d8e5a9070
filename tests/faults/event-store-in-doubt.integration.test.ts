import { createServer, type Server, type Socket, connect as connectTo } from 'node:net';
import { once } from 'node:events';
import { EventStoreDBClient, jsonEvent, UnavailableError } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalEventStore, startEventStore } from '#deploy/local/event-store/start.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { createTestDatabase } from '../stack/database.ts';

/** Time for the database to execute one commit before its connection is cut. */
const COMMIT_MS = 500;
const RETRY_PAUSE_MS = 50;
const WAIT_LIMIT_MS = 60_000;

/** Proxy that holds back replies, then cuts the connections. */
class Proxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isMute = false;

  constructor(target: URL) {
    this.#server = createServer((near) => {
      const far = connectTo(Number(target.port), target.hostname);
      const pair = [near, far] as const;
      this.#pairs.add(pair);
      near.on('data', (bytes) => far.write(bytes));
      far.on('data', (bytes) => this.#isMute || near.write(bytes));
      for (const socket of pair) {
        socket.on('error', () => undefined);
        socket.on('close', () => this.#cut(pair));
      }
    });
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  mute(): void {
    this.#isMute = true;
  }

  cutAll(): void {
    for (const pair of this.#pairs) this.#cut(pair);
    this.#isMute = false;
  }

  close(): void {
    this.cutAll();
    this.#server.close();
  }

  #cut(pair: readonly [Socket, Socket]): void {
    this.#pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  }
}

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let proxy: Proxy;
let store: LocalEventStore;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  // Without the folder of a socket, the URL leads to the port.
  url.searchParams.delete('host');
  proxy = new Proxy(new URL(database.url));
  url.port = String(await freePort());
  await proxy.listen(Number(url.port));
  store = await startEventStore({ databaseUrl: url.href, host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await store.stop();
  proxy.close();
  await database.drop();
});

describe('an append whose commit was not confirmed', () => {
  test('is refused, reaches live subscribers, and is recognised as a duplicate when it is repeated', async () => {
    const client = EventStoreDBClient.connectionString(store.url);
    const first = jsonEvent({ type: 'Written', data: {} });
    await client.appendToStream('doubt-1', first, { expectedRevision: 'no_stream' });
    const reader = EventStoreDBClient.connectionString(store.url);
    const seen: string[] = [];
    const subscription = reader.subscribeToAll({ fromPosition: 'end' });
    subscription.on('data', ({ event }) => seen.push(event?.id ?? ''));
    await new Promise((resolve) => subscription.once('caughtUp', resolve));

    const second = jsonEvent({ type: 'Written', data: {} });
    proxy.mute();
    const append = client.appendToStream('doubt-1', second, { expectedRevision: 0n });
    const outcome = append.catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, COMMIT_MS));
    proxy.cutAll();
    expect(await outcome).toBeInstanceOf(UnavailableError);

    const third = jsonEvent({ type: 'Written', data: {} });
    const other = await retried(() => client.appendToStream('doubt-2', third));
    const again = await client.appendToStream('doubt-1', second, { expectedRevision: 0n });
    expect(again.nextExpectedRevision).toBe(1n);
    expect(again.position?.commit).toBeLessThan(other.position?.commit ?? 0n);
    const ids: string[] = [];
    for await (const { event } of client.readStream('doubt-1')) ids.push(event?.id ?? '');
    expect(ids).toEqual([first.id, second.id]);
    await retried(async () => expect(seen).toContain(third.id));
    expect(seen).toEqual([second.id, third.id]);
    await subscription.unsubscribe();
    await client.dispose();
    await reader.dispose();
  });
});

async function retried<T>(action: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    }
  }
}
