import {
  DeadlineExceededError,
  EventStoreDBClient,
  persistentSubscriptionToStreamSettingsFromDefaults,
  streamNameFilter,
} from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { credentials } from '@grpc/grpc-js';
import emptyMessages from 'google-protobuf/google/protobuf/empty_pb.js';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalEventStore, startEventStore } from '#deploy/local/event-store/start.ts';
import { createTestDatabase } from '../stack/database.ts';
import { failureOf, fill, Follower, idsOf, newEvents, newStream, readWhole } from './event-store/support.ts';
import { eventStoreConformance } from './event-store.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: LocalEventStore;

beforeAll(async () => {
  database = await createTestDatabase();
  store = await startEventStore({ databaseUrl: database.url, host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await store.stop();
  await database.drop();
});

function connect(): EventStoreDBClient {
  return EventStoreDBClient.connectionString(store.url);
}

eventStoreConformance({ connect });

describe('the local event store', () => {
  let client: EventStoreDBClient;
  beforeAll(() => {
    client = connect();
  });
  afterAll(() => client.dispose());

  test('accepts clients that use discovery', async () => {
    const discovering = EventStoreDBClient.connectionString(
      `esdb+discover://127.0.0.1:${store.port}?tls=false`,
    );
    const stream = newStream();
    const events = newEvents(1);
    await discovering.appendToStream(stream, events);
    expect(idsOf(await readWhole(discovering, stream))).toEqual(idsOf(events));
    await discovering.dispose();
  });

  test('rejects unsupported calls with UNIMPLEMENTED and names the alternative', async () => {
    const settings = persistentSubscriptionToStreamSettingsFromDefaults();
    const persistent = await failureOf(
      client.createPersistentSubscriptionToStream(newStream(), 'group', settings),
    );
    expect(String(persistent)).toMatch(/UNIMPLEMENTED.*catch-up subscription/);
    const projection = await failureOf(client.createProjection('name', 'fromAll()'));
    expect(String(projection)).toMatch(/UNIMPLEMENTED.*subscribe to \$all/);
    const links = await failureOf(readAllOf(client.readStream(newStream(), { resolveLinkTos: true })));
    expect(String(links)).toMatch(/UNIMPLEMENTED.*Links are not resolved/);
  });

  test('refuses to filter a read instead of ignoring the filter', async () => {
    const empty = new emptyMessages.Empty();
    const filter = new streams.ReadReq.Options.FilterOptions();
    filter.setStreamIdentifier(
      new streams.ReadReq.Options.FilterOptions.Expression().setPrefixList(['brand-']),
    );
    filter.setMax(32);
    const options = new streams.ReadReq.Options();
    options.setAll(new streams.ReadReq.Options.AllOptions().setStart(empty));
    options.setCount('10');
    options.setFilter(filter);
    options.setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(empty));
    const raw = new streamsGrpc.StreamsClient(`127.0.0.1:${store.port}`, credentials.createInsecure());
    const error = await failureOf(readAllOf(raw.read(new streams.ReadReq().setOptions(options))));
    expect(String(error)).toMatch(/UNIMPLEMENTED.*Only subscriptions to \$all are filtered/);
    raw.close();
  });

  test('cancels an append at its deadline, after which the append can be sent again', async () => {
    const stream = newStream();
    const events = newEvents(1);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    try {
      await blocker.query('begin; lock table event_store.event in exclusive mode');
      const error = await failureOf(
        client.appendToStream(stream, events, { expectedRevision: 'no_stream', deadline: 300 }),
      );
      expect(error).toBeInstanceOf(DeadlineExceededError);
      // The table is locked until here, so the answer came at the deadline and not after the append.
      await blocker.query('rollback');
      const written = await client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
      expect(written.nextExpectedRevision).toBe(0n);
      expect(await readWhole(client, stream)).toHaveLength(1);
    } finally {
      await blocker.end();
    }
  });

  test('ends a live subscription to a stream when the stream gets a tombstone', async () => {
    const stream = newStream();
    await fill(client, stream, 1);
    const subscription = client.subscribeToStream(stream);
    subscription.on('data', () => undefined);
    const ended = new Promise((resolve) => subscription.once('error', resolve));
    await new Promise((resolve) => subscription.once('caughtUp', resolve));
    await client.tombstoneStream(stream);
    expect(await ended).toMatchObject({ type: 'stream-deleted' });
  });

  test('serves a subscriber that is far behind from the stored log', async () => {
    const category = `behind${newStream('').replaceAll('-', '')}`;
    const filter = streamNameFilter({ prefixes: [category] });
    const subscription = client.subscribeToAll({ fromPosition: 'end', filter });
    const expected: string[] = [];
    const seen: string[] = [];
    await new Promise((resolve) => subscription.once('caughtUp', resolve).resume());
    subscription.pause();
    // More events than the store caches in memory.
    for (let part = 0; part < 44; part += 1) {
      const events = newEvents(500);
      await client.appendToStream(`${category}-${part % 3}`, events);
      expected.push(...idsOf(events));
    }
    for await (const { event } of subscription) {
      seen.push(event?.id ?? '');
      if (seen.length === expected.length) break;
    }
    await subscription.unsubscribe();
    expect(seen).toEqual(expected);

    const whole = new Follower(client.subscribeToAll({ fromPosition: 'start', filter }));
    await whole.until((follower) => follower.count('caughtUp') === 1, 'caughtUp');
    expect(idsOf(whole.events)).toEqual(expected);
    await whole.close();
    const stream = new Follower(client.subscribeToStream(`${category}-0`));
    await stream.until((follower) => follower.count('caughtUp') === 1, 'caughtUp');
    expect(stream.events.map((event) => Number(event.revision))).toEqual(
      expected.slice(0, 7_500).map((_, at) => at),
    );
    await stream.close();
  });

  test('rejects a second writer on the same database', async () => {
    const options = { databaseUrl: database.url, host: '127.0.0.1', port: 0, lockWaitMs: 200 };
    const second = startEventStore(options);
    await expect(second).rejects.toThrow(/Another event store process writes to this database/);
  });

  test('reads and appends the same after a restart', async () => {
    const stream = newStream();
    const before = await fill(client, stream, 3);
    await client.setStreamMetadata(stream, { maxCount: 2 });
    const gone = newStream();
    await fill(client, gone, 1);
    await client.tombstoneStream(gone);
    await store.stop();
    store = await startEventStore({ databaseUrl: database.url, host: '127.0.0.1', port: 0 });
    const again = connect();
    expect(idsOf(await readWhole(again, stream))).toEqual(idsOf(before).slice(1));
    // After the restart the stream is not cached: the store first takes it for new, then finds its events.
    const repeated = await again.appendToStream(stream, before, { expectedRevision: 'no_stream' });
    expect(repeated.nextExpectedRevision).toBe(2n);
    // Ids written before the restart are still recognised, also without an exact expected revision.
    await again.appendToStream(stream, before, { expectedRevision: 'any' });
    const written = await again.appendToStream(stream, newEvents(1), { expectedRevision: 2n });
    expect(written.nextExpectedRevision).toBe(3n);
    let newest: string | undefined;
    for await (const { event } of again.readAll({
      fromPosition: 'end',
      direction: 'backwards',
      maxCount: 1,
    })) {
      newest = event?.streamId;
    }
    expect(newest).toBe(stream);
    expect(await failureOf(again.appendToStream(gone, newEvents(1)))).toMatchObject({
      type: 'stream-deleted',
    });
    await again.dispose();
  });
});

async function readAllOf(reading: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of reading);
}
