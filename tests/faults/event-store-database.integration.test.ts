import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EventStoreDBClient, type JSONEventData, jsonEvent, UnavailableError } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalEventStore, startEventStore } from '#deploy/local/event-store/start.ts';
import { type LocalPostgres, startPostgres } from '#deploy/local/postgres/start.ts';
import { STACK_FOLDER_PREFIX, stackRoot } from '../stack/stale-databases.ts';

const WRITERS = 8;
const OUTAGES = 2;
const FILLED_STREAMS = 10;
const CONCURRENT_READS = 20;
const WRITING_MS = 500;
const RETRY_PAUSE_MS = 50;
const TIME_LIMIT_MS = 90_000;
/** Limit of a call: without an answer it has failed then. */
const CALL_LIMIT_MS = 60_000;

let folder: string;
let postgres: LocalPostgres;
let store: LocalEventStore;

beforeAll(async () => {
  folder = await mkdtemp(join(await stackRoot(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  await chmod(folder, 0o755);
  postgres = await startPostgres({ folder: join(folder, 'postgres'), port: 0 });
  await postgres.createDatabase('events');
  store = await startEventStore({ databaseUrl: postgres.databaseUrl('events'), host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await store.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

async function killPostgres(): Promise<void> {
  const text = await readFile(join(folder, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  process.kill(Number(text.split('\n')[0]), 'SIGKILL');
}

async function restartPostgres(): Promise<void> {
  postgres = await startPostgres({ folder: join(folder, 'postgres'), port: postgres.port });
}

function connect(): EventStoreDBClient {
  return EventStoreDBClient.connectionString(store.url);
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

describe('the event store while its database is down', () => {
  test('refuses calls before the database has returned, keeps running, and accepts calls afterwards', {
    timeout: TIME_LIMIT_MS,
  }, async () => {
    const client = connect();
    const events = [jsonEvent({ type: 'Written', data: {} })];
    await client.appendToStream('outage-1', events);
    await killPostgres();
    await pause(RETRY_PAUSE_MS);
    // The database returns only after both refusals. A store that waited for it would exceed the deadline, another error.
    await expect(
      client.appendToStream('outage-1', events, { deadline: CALL_LIMIT_MS }),
    ).rejects.toBeInstanceOf(UnavailableError);
    await expect(readIds('outage-1')).rejects.toBeInstanceOf(UnavailableError);
    await restartPostgres();
    await retried(() => client.appendToStream('outage-1', events));
    expect(await readIds('outage-1')).toEqual([events[0]?.id]);
    await client.dispose();
  });

  test('ends running reads with an error instead of hanging', {
    timeout: TIME_LIMIT_MS,
  }, async () => {
    const client = connect();
    const events = () =>
      Array.from({ length: 500 }, () => jsonEvent({ type: 'Filled', data: { text: 'x'.repeat(300) } }));
    for (let part = 0; part < FILLED_STREAMS; part += 1)
      await client.appendToStream(`filled-${part}`, events());
    let seen = 0;
    const begun = Promise.withResolvers<void>();
    const reads = Array.from({ length: CONCURRENT_READS }, async () => {
      for await (const _ of client.readAll()) {
        seen += 1;
        begun.resolve();
      }
    });
    const outcomes = Promise.allSettled(reads);
    await begun.promise;
    await killPostgres();
    // A read that already had its last page may have completed.
    const reasons = (await outcomes).flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    );
    expect(reasons.filter((reason) => !(reason instanceof UnavailableError))).toEqual([]);
    expect(seen).toBeLessThan(CONCURRENT_READS * FILLED_STREAMS * 500);
    await restartPostgres();
    await retried(() => readIds('filled-0'));
    await client.dispose();
  });

  test('keeps every acknowledged append, and live subscribers receive all of them', {
    timeout: TIME_LIMIT_MS,
  }, async () => {
    const follower = connect();
    const live: string[] = [];
    const subscription = follower.subscribeToAll({ fromPosition: 'end' });
    const failures: unknown[] = [];
    subscription.on('error', (error) => failures.push(error));
    subscription.on('data', ({ event }) => {
      if (event?.streamId.startsWith('crash-') === true) live.push(event.id);
    });
    await new Promise((resolve) => subscription.once('caughtUp', resolve));

    const writing = new AbortController();
    // One client for all: a broken call rejects the pending appends of every client of the process.
    const client = connect();
    const acknowledged = new Map<string, string[]>();
    const writers = Array.from({ length: WRITERS }, async (_, number) => {
      const ids: string[] = [];
      acknowledged.set(`crash-${number}`, ids);
      while (!writing.signal.aborted) {
        const events: JSONEventData[] = [1, 2].map((part) => jsonEvent({ type: 'Written', data: { part } }));
        const expectedRevision = ids.length === 0 ? 'no_stream' : BigInt(ids.length - 1);
        await retried(() => client.appendToStream(`crash-${number}`, events, { expectedRevision }));
        ids.push(...events.map((event) => event.id));
      }
    });
    for (let outage = 0; outage < OUTAGES; outage += 1) {
      await pause(WRITING_MS);
      await killPostgres();
      await pause(RETRY_PAUSE_MS);
      await restartPostgres();
    }
    await pause(WRITING_MS);
    writing.abort();
    await Promise.all(writers);

    let total = 0;
    for (const [stream, ids] of acknowledged) {
      expect(await readIds(stream)).toEqual(ids);
      total += ids.length;
    }
    await retried(async () => expect(live).toHaveLength(total));
    expect(failures).toEqual([]);
    expect(live).toEqual(await readAllIds());
    await subscription.unsubscribe();
    await follower.dispose();
    await client.dispose();
  });
});

/** Retries calls that failed while the store or its database was down. The event ids make this safe. */
async function retried<T>(action: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + TIME_LIMIT_MS / 3;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(RETRY_PAUSE_MS);
    }
  }
}

async function readIds(stream: string): Promise<string[]> {
  const client = connect();
  const ids: string[] = [];
  try {
    for await (const { event } of client.readStream(stream)) ids.push(event?.id ?? '');
  } finally {
    await client.dispose();
  }
  return ids;
}

async function readAllIds(): Promise<string[]> {
  const client = connect();
  const ids: string[] = [];
  for await (const { event } of client.readAll())
    if (event?.streamId.startsWith('crash-') === true) ids.push(event.id);
  await client.dispose();
  return ids;
}
