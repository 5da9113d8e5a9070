import { EventStoreDBClient } from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type CallOptions, credentials, Metadata, status } from '@grpc/grpc-js';
import emptyMessages from 'google-protobuf/google/protobuf/empty_pb.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalEventStore, startEventStore } from '#deploy/local/event-store/start.ts';
import { failureOf, newEvents, newStream, readWhole } from '../../conformance/event-store/support.ts';
import { createTestDatabase } from '../../stack/database.ts';

/** One connection of a client, and the calls that the store serves on it at the same time. */

const CALLS_MAX = 100;
const READS = 300;
const EVENTS = 3;
const GIVEN_UP_MS = 500;
const LIMIT = { timeout: 120_000 };

let store: LocalEventStore;
let stream: string;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  store = await startEventStore({ databaseUrl: database.url, host: '127.0.0.1', port: 0 });
  resources.defer(() => store.stop());
  stream = newStream();
  const client = EventStoreDBClient.connectionString(store.url);
  await client.appendToStream(stream, newEvents(EVENTS));
  await client.dispose();
});
afterAll(() => resources.disposeAsync());

const requestOf = (setCount: (options: streams.ReadReq.Options) => void): streams.ReadReq => {
  const empty = new emptyMessages.Empty();
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream).toString('base64'));
  const options = new streams.ReadReq.Options();
  options.setStream(
    new streams.ReadReq.Options.StreamOptions().setStreamIdentifier(identifier).setStart(empty),
  );
  options.setNoFilter(empty);
  options.setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(empty));
  setCount(options);
  return new streams.ReadReq().setOptions(options);
};

const connect = () => {
  const options = { 'grpc.use_local_subchannel_pool': 1 };
  const client = new streamsGrpc.StreamsClient(
    `127.0.0.1:${store.port}`,
    credentials.createInsecure(),
    options,
  );
  resources.defer(() => client.close());
  return {
    read: async (callOptions: Partial<CallOptions> = {}): Promise<number> => {
      let messages = 0;
      const request = requestOf((one) => one.setCount('10'));
      for await (const message of client.read(request, new Metadata(), callOptions)) {
        if ((message as streams.ReadResp).hasEvent()) messages += 1;
      }
      return messages;
    },
    /** A subscription is a call that lasts. Returns how it ends. */
    subscribe: async (): Promise<() => void> => {
      const request = requestOf((one) =>
        one.setSubscription(new streams.ReadReq.Options.SubscriptionOptions()),
      );
      const call = client.read(request);
      await new Promise<void>((resolve, reject) => {
        call.once('data', () => resolve());
        call.on('error', reject);
      });
      call.resume();
      return () => call.cancel();
    },
  };
};

test('a call beyond a hundred of its connection begins when another one has ended', LIMIT, async () => {
  const [connection, other] = [connect(), connect()];
  const subscribe = () => Promise.all(Array.from({ length: CALLS_MAX }, () => connection.subscribe()));
  const subscribed = await subscribe();
  const error = await failureOf(connection.read({ deadline: Date.now() + GIVEN_UP_MS }));
  expect(error).toMatchObject({ code: status.DEADLINE_EXCEEDED });
  expect(await other.read()).toBe(EVENTS);
  const waiting = connection.read();
  subscribed[0]?.();
  expect(await waiting).toBe(EVENTS);
  // Neither the call that was given up nor those that were cancelled take a place.
  for (const end of subscribed.slice(1)) end();
  await subscribe();
});

test('many reads at once on one connection all succeed', LIMIT, async () => {
  const connection = connect();
  await Promise.all(Array.from({ length: CALLS_MAX / 2 }, () => connection.subscribe()));
  const counts = await Promise.all(Array.from({ length: READS }, () => connection.read()));
  expect(new Set(counts)).toEqual(new Set([EVENTS]));
});

test('appends and reads of the official client go on while as many wait', LIMIT, async () => {
  const client = EventStoreDBClient.connectionString(store.url);
  const names = Array.from({ length: 2 * CALLS_MAX }, () => newStream());
  await Promise.all(names.map((name) => client.appendToStream(name, newEvents(1))));
  const read = await Promise.all(names.map((name) => readWhole(client, name)));
  expect(read.every(({ length }) => length === 1)).toBe(true);
  await client.dispose();
});
