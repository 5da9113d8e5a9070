import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient, type JSONEventData, jsonEvent } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { createTestDatabase } from '../stack/database.ts';

const MAIN = fileURLToPath(new URL('../../deploy/local/event-store/main.ts', import.meta.url));
const KILLS = 4;
const WRITERS = 12;
const EVENTS_PER_APPEND = 3;
/** Number of appends before the process is killed in the middle of others. */
const APPENDS_PER_LIFE = 150;
const START_LIMIT_MS = 60_000;
const RETRY_PAUSE_MS = 50;
const TIME_LIMIT_MS = 120_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let port: number;
let server: ChildProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  port = await freePort();
});

afterAll(async () => {
  server.kill('SIGKILL');
  await database.drop();
});

async function startServer(): Promise<void> {
  server = spawn(process.execPath, [MAIN], {
    env: { EVENT_STORE_PORT: String(port), EVENT_STORE_DATABASE_URL: database.url, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const started = Promise.withResolvers<void>();
  server.stdout?.on('data', (line: Buffer) => {
    if (line.includes('event store listening')) started.resolve();
  });
  server.once('exit', (code) => started.reject(new Error(`The event store ended with code ${code}.`)));
  const limit = setTimeout(() => started.reject(new Error('The event store did not start.')), START_LIMIT_MS);
  await started.promise.finally(() => clearTimeout(limit));
}

async function killServer(): Promise<void> {
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
}

function connect(): EventStoreDBClient {
  return EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`);
}

/** Repeats unanswered appends with the same ids. */
class Writer {
  readonly stream: string;
  readonly acknowledged: string[] = [];
  readonly #client: EventStoreDBClient;
  #pending: JSONEventData[] | null = null;

  constructor(client: EventStoreDBClient, stream: string) {
    this.#client = client;
    this.stream = stream;
  }

  async append(): Promise<void> {
    this.#pending ??= Array.from({ length: EVENTS_PER_APPEND }, () =>
      jsonEvent({ type: 'Written', data: {} }),
    );
    const last = this.acknowledged.length - 1;
    const expectedRevision = last < 0 ? 'no_stream' : BigInt(last);
    const written = await this.#client.appendToStream(this.stream, this.#pending, { expectedRevision });
    for (const event of this.#pending) this.acknowledged.push(event.id);
    this.#pending = null;
    if (written.nextExpectedRevision !== BigInt(this.acknowledged.length - 1)) {
      throw new Error(
        `${this.stream} is at ${written.nextExpectedRevision} after ${this.acknowledged.length} events.`,
      );
    }
  }

  async appendUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      try {
        await this.append();
      } catch (error) {
        // Any other error than a broken connection is a failure of the test.
        if (!/UNAVAILABLE|CANCELLED|INTERNAL|ECONN/.test(String(error))) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      }
    }
  }
}

interface Entry {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: bigint;
}

async function readAll(): Promise<Entry[]> {
  const client = connect();
  const entries: Entry[] = [];
  for await (const { event } of client.readAll()) {
    if (event === undefined || event.type.startsWith('$')) continue;
    const { id, streamId, revision, position } = event;
    entries.push({ id, stream: streamId, revision: Number(revision), position: position.commit });
  }
  await client.dispose();
  return entries;
}

describe('the event store killed during appends', () => {
  test('keeps every acknowledged event, once and in one order', { timeout: TIME_LIMIT_MS }, async () => {
    // One client for all: a broken call rejects the pending appends of every client of the process.
    const client = connect();
    const writers = Array.from({ length: WRITERS }, (_, number) => new Writer(client, `killed-${number}`));
    const appends = () =>
      writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0) / EVENTS_PER_APPEND;
    let seen: Entry[] = [];
    for (let life = 1; life <= KILLS + 1; life += 1) {
      await startServer();
      const afterRestart = await readAll();
      // After a restart, $all starts with exactly the events that it held before the kill.
      expect(afterRestart.slice(0, seen.length)).toEqual(seen);
      const goal = appends() + APPENDS_PER_LIFE;
      const writing = Promise.all(writers.map((writer) => writer.appendUntil(() => appends() >= goal)));
      if (life <= KILLS) {
        while (appends() < goal - APPENDS_PER_LIFE / 2) await new Promise((resolve) => setImmediate(resolve));
        seen = await readAll();
        const killed = killServer();
        await killed;
        await startServer();
        await writing;
        await killServer();
      } else {
        await writing;
      }
    }
    const all = await readAll();
    for (const writer of writers) {
      const own = all.filter((entry) => entry.stream === writer.stream);
      expect(own.map((entry) => entry.revision)).toEqual(own.map((_, revision) => revision));
      // The last append may have been written without an acknowledgement; all others are acknowledged.
      expect(own.map((entry) => entry.id).slice(0, writer.acknowledged.length)).toEqual(writer.acknowledged);
    }
    expect(new Set(all.map((entry) => entry.id)).size).toBe(all.length);
    const positions = all.map((entry) => entry.position);
    expect(positions).toEqual(positions.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(positions).size).toBe(positions.length);
    await client.dispose();
    await killServer();
  });
});
