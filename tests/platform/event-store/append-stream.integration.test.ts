import { setTimeout as delay } from 'node:timers/promises';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata, status } from '@grpc/grpc-js';
import statusMessages from '@eventstore/db-client/generated/status_pb.js';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type EncodedEvent,
  type AppendStream,
  IN_FLIGHT_MAX,
  IN_FLIGHT_MAX_BYTES,
  openAppendStream,
  WAITING_MAX,
} from '#platform/event-store/append-stream.ts';
import { EventStoreBusy, EventStoreSilent } from '#platform/event-store/errors.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { acknowledge, type AppendCall, startStubServer } from './stub-server.ts';

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const LONG_MS = 30_000;
const SHORT_MS = 300;

const eventOf = (bytes = 2): EncodedEvent => ({
  id: '00000000-0000-4000-8000-000000000001',
  type: 'Tried',
  contentType: 'application/json',
  data: Buffer.alloc(bytes, 0x20),
  metadata: Buffer.from('{}'),
});
const appendOne = (to: AppendStream, withinMs = LONG_MS, bytes = 2) =>
  to.append({ stream: 'test-1', expected: -1n, events: [eventOf(bytes)] }, withinMs);

const startHolding = async () => {
  const held: { readonly call: AppendCall; readonly request: streams.BatchAppendReq }[] = [];
  const server = await startStubServer({ onAppend: (call, request) => void held.push({ call, request }) });
  const answerAll = (): void => {
    for (const { call, request } of held.splice(0)) acknowledge(call, request, 7);
  };
  return { server, held, answerAll };
};

const outcomes = async (promises: readonly Promise<unknown>[]): Promise<readonly string[]> =>
  (await Promise.allSettled(promises)).map((one) =>
    one.status === 'fulfilled' ? 'recorded' : (one.reason as Error).name,
  );

describe('the stream of appends', () => {
  test('carries a limited number of appends, lets as many wait, and refuses more at once', async () => {
    const { server, held, answerAll } = await startHolding();
    resources.use(server);
    await using appends = openAppendStream(server.url);
    const first = appendOne(appends);
    await expect.poll(() => held.length, { timeout: LONG_MS }).toBe(1);
    const others = Array.from({ length: IN_FLIGHT_MAX - 1 + WAITING_MAX }, () => appendOne(appends));
    await expect(appendOne(appends)).rejects.toThrow(EventStoreBusy);
    await expect.poll(() => held.length, { timeout: LONG_MS }).toBe(IN_FLIGHT_MAX);
    await delay(50);
    expect(held).toHaveLength(IN_FLIGHT_MAX);
    const answering = setInterval(answerAll, 5);
    expect(new Set(await outcomes([first, ...others]))).toEqual(new Set(['recorded']));
    clearInterval(answering);
    expect(server.questions()).toBe(0);
  });

  test('carries a limited number of bytes', async () => {
    const { server, held, answerAll } = await startHolding();
    resources.use(server);
    await using appends = openAppendStream(server.url);
    const bytes = 900_000;
    const all = Array.from({ length: 12 }, () => appendOne(appends, LONG_MS, bytes));
    const fitting = Math.floor(IN_FLIGHT_MAX_BYTES / (bytes + 200));
    await expect.poll(() => held.length, { timeout: LONG_MS }).toBe(fitting);
    await delay(50);
    expect(held).toHaveLength(fitting);
    const answering = setInterval(answerAll, 5);
    expect(new Set(await outcomes(all))).toEqual(new Set(['recorded']));
    clearInterval(answering);
  });

  test('gives up an append that is not answered, and takes no harm from its late answer', async () => {
    const { server, held, answerAll } = await startHolding();
    resources.use(server);
    await using appends = openAppendStream(server.url);
    await expect(appendOne(appends, SHORT_MS)).rejects.toThrow(EventStoreSilent);
    expect(held).toHaveLength(1);
    answerAll();
    const next = appendOne(appends);
    await expect.poll(() => held.length, { timeout: LONG_MS }).toBe(1);
    answerAll();
    expect(await next).toEqual({ revision: 7n, position: 7n });
  });

  test('is replaced after three timeouts in a row, and not earlier', async () => {
    const calls = new Set<AppendCall>();
    const server = await startStubServer({ onAppend: (call) => void calls.add(call) });
    resources.use(server);
    await using appends = openAppendStream(server.url);
    for (const expected of [1, 1, 1, 2]) {
      await expect(appendOne(appends, SHORT_MS)).rejects.toThrow(EventStoreSilent);
      expect(calls.size).toBe(expected);
    }
  });

  test('fails only its own appends when its connection breaks', async () => {
    const [breaking, lasting] = await Promise.all([startHolding(), startHolding()]);
    resources.use(breaking.server);
    resources.use(lasting.server);
    await using one = openAppendStream(breaking.server.url);
    await using other = openAppendStream(lasting.server.url);
    const lost = appendOne(one);
    const kept = appendOne(other);
    await expect.poll(() => breaking.held.length + lasting.held.length, { timeout: LONG_MS }).toBe(2);
    breaking.held[0]?.call.emit('error', { code: status.UNAVAILABLE, details: 'gone' });
    await expect(lost).rejects.toMatchObject({ type: 'unavailable' });
    lasting.answerAll();
    expect(await kept).toEqual({ revision: 7n, position: 7n });
  });

  test('is needed, because a broken connection of one client of the package fails the appends of all', async () => {
    const [breaking, lasting] = await Promise.all([startHolding(), startHolding()]);
    resources.use(breaking.server);
    resources.use(lasting.server);
    const [lost, kept] = [breaking, lasting].map(({ server }) => {
      const client = EventStoreDBClient.connectionString(server.url);
      // The stub does not tell the features of a server.
      Object.assign(client, { supports: () => Promise.resolve(true) });
      return client.appendToStream('test-1', jsonEvent({ type: 'Tried', data: {} }));
    });
    const ended = Promise.allSettled([lost, kept]);
    await expect.poll(() => breaking.held.length + lasting.held.length, { timeout: LONG_MS }).toBe(2);
    breaking.held[0]?.call.emit('error', { code: status.UNAVAILABLE, details: 'gone' });
    // Here the package throws at the late answer of the lasting server, which would end the process.
    expect((await ended).map((one) => one.status)).toEqual(['rejected', 'rejected']);
  });

  test('that ends with a failure sends nothing after it, neither what waits nor what comes later', async () => {
    const { server, held } = await startHolding();
    resources.use(server);
    await using appends = openAppendStream(server.url, { endsWithFailure: true });
    const all = Array.from({ length: IN_FLIGHT_MAX + 5 }, () => appendOne(appends));
    await expect.poll(() => held.length, { timeout: LONG_MS }).toBe(IN_FLIGHT_MAX);
    const [first, ...others] = held.splice(0);
    if (first) acknowledge(first.call, first.request, 7);
    await expect.poll(() => held.length, { timeout: LONG_MS }).toBe(1);
    others[0]?.call.emit('error', { code: status.UNAVAILABLE, details: 'gone' });
    const [recorded, ...failed] = await outcomes(all);
    expect(recorded).toBe('recorded');
    expect(new Set(failed)).toEqual(new Set(['Error']));
    await expect(appendOne(appends)).rejects.toMatchObject({ type: 'unavailable' });
    await delay(50);
    expect(held).toHaveLength(1);
  });

  test('goes on after a node that is not the leader and does not name it', async () => {
    let isLeader = false;
    await using server = await startStubServer({
      onAppend: (call, request) => {
        if (isLeader) return acknowledge(call, request, 7);
        isLeader = true;
        const metadata = new Metadata();
        metadata.set('exception', 'not-leader');
        call.emit('error', { code: status.NOT_FOUND, details: 'not the leader', metadata });
        return undefined;
      },
    });
    await using appends = openAppendStream(server.url);
    await expect(appendOne(appends)).rejects.toMatchObject({ type: 'unavailable' });
    expect(await appendOne(appends)).toEqual({ revision: 7n, position: 7n });
  });

  test('goes to the leader that a node names', async () => {
    const { server, held, answerAll } = await startHolding();
    resources.use(server);
    await using follower = await startStubServer({
      onAppend: (call) => {
        const metadata = new Metadata();
        metadata.set('exception', 'not-leader');
        metadata.set('leader-endpoint-host', '127.0.0.1');
        metadata.set('leader-endpoint-port', String(server.port));
        call.emit('error', { code: status.NOT_FOUND, details: 'not the leader', metadata });
      },
    });
    await using appends = openAppendStream(follower.url);
    await expect(appendOne(appends)).rejects.toMatchObject({ type: 'not-leader' });
    const next = appendOne(appends);
    await expect.poll(() => held.length, { timeout: LONG_MS }).toBe(1);
    answerAll();
    expect(await next).toEqual({ revision: 7n, position: 7n });
  });
});

test('an append is sent again, with the same ids, to a server that is not ready', async () => {
  const ids: string[] = [];
  const server = await startStubServer({
    onAppend: (call, request) => {
      ids.push(request.getProposedMessagesList()[0]?.getId()?.getString() ?? '');
      if (ids.length === 3) return acknowledge(call, request, 0);
      const answer = new streams.BatchAppendResp();
      answer.setCorrelationId(request.getCorrelationId());
      answer.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from('brand-1')));
      answer.setError(new statusMessages.Status().setMessage('Server Is Not Ready'));
      call.write(answer);
      return undefined;
    },
  });
  resources.use(server);
  await using store = openEventStore(server.url);
  const metadata = {
    $correlationId: 'c',
    $causationId: 'c',
    request_id: 'c',
    actor: { kind: 'service', id: 'tests' },
  } as const;
  const event = { type: 'Tried', data: {} };
  const id = '00000000-0000-4000-8000-000000000009';
  expect(await store.append('test-1', -1n, [event], metadata, () => id)).toMatchObject({ revision: 0n });
  expect(ids).toEqual([id, id, id]);
});
