import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openAppendStream } from '#platform/event-store/append-stream.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { createShortReads } from '#platform/event-store/short-reads.ts';
import {
  acknowledge,
  eventAt,
  refuse,
  startStubServer,
  type ReadCall,
  type StubAnswers,
  type StubServer,
} from './stub-server.ts';

/** Answers of a cluster with a new leader, which appends and reads must find. */

const METADATA = {
  $correlationId: 'c',
  $causationId: 'c',
  request_id: 'c',
  actor: { kind: 'service', id: 'tests' },
} as const;
const ID = '00000000-0000-4000-8000-000000000009';
const LIMIT_MS = 30_000;
const SHORT_MS = 200;

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

/** Starts two nodes. The former leader leads by its own gossip until asked. */
const startCluster = async (
  formerLeader: StubAnswers['onAppend'],
): Promise<{ readonly url: string; readonly refused: () => number }> => {
  let refused = 0;
  const ports: number[] = [];
  const members = (): readonly number[] => (refused === 0 ? ports : ports.toReversed());
  const former = await startStubServer({
    members,
    onAppend: (call, request) => {
      refused += 1;
      formerLeader?.(call, request);
    },
  });
  const newLeader = await startStubServer({
    members,
    onAppend: (call, request) => acknowledge(call, request, 0),
  });
  const servers: readonly StubServer[] = [resources.use(former), resources.use(newLeader)];
  ports.push(...servers.map(({ port }) => port));
  return {
    url: `esdb://${ports.map((port) => `127.0.0.1:${port}`).join(',')}?tls=false`,
    refused: () => refused,
  };
};

const append = (store: ReturnType<typeof openEventStore>) =>
  store.append('test-1', -1n, [{ type: 'Tried', data: {} }], METADATA, () => ID);

describe('appends go to the new leader', { timeout: LIMIT_MS }, () => {
  test('when the former one says that it has none', async () => {
    const { url, refused } = await startCluster(refuse);
    await using store = openEventStore(url);
    // Background work tries again.
    await expect.poll(() => append(store), { timeout: LIMIT_MS }).toMatchObject({ revision: 0n });
    expect(refused()).toBeGreaterThan(1);
  });

  test('within the time of a request', async () => {
    const { url } = await startCluster(refuse);
    await using store = openEventStore(url, { answerWithinMs: 5_000 });
    expect(await append(store)).toMatchObject({ revision: 0n });
  });

  test('when its refusals come later than anybody waits for them', async () => {
    const { url } = await startCluster((call, request) => {
      setTimeout(() => refuse(call, request), 2 * SHORT_MS);
    });
    await using appends = openAppendStream(url);
    const event = {
      id: ID,
      type: 'Tried',
      contentType: 'application/json',
      data: Buffer.from('{}'),
      metadata: Buffer.from('{}'),
    };
    await expect
      .poll(() => appends.append({ stream: 'test-1', expected: -1n, events: [event] }, SHORT_MS), {
        timeout: LIMIT_MS,
      })
      .toMatchObject({ revision: 0n });
  });
});

test('reads that wait only a short time go to another node when theirs is silent', {
  timeout: 3 * LIMIT_MS,
}, async () => {
  let isFrozen = false;
  const ports: number[] = [];
  const members = (): readonly number[] => (isFrozen ? ports.toReversed() : ports);
  const answer = (call: ReadCall, position: bigint): void => {
    call.write(eventAt(position));
    call.end();
  };
  await using former = await startStubServer({
    members,
    onRead: (call) => {
      if (!isFrozen) answer(call, 1n);
    },
  });
  await using newLeader = await startStubServer({ members, onRead: (call) => answer(call, 2n) });
  ports.push(former.port, newLeader.port);
  const url = `esdb://${ports.map((port) => `127.0.0.1:${port}`).join(',')}?tls=false`;
  await using store = openEventStore(url, { readSilenceMs: 2 * SHORT_MS });
  const log = createShortReads(SHORT_MS);
  const ask = async () => (await log.ask(() => store.last('test-1')))?.answer?.position;
  await expect.poll(ask, { timeout: LIMIT_MS }).toBe(1n);
  isFrozen = true;
  expect(await ask()).toBeUndefined();
  await expect.poll(ask, { timeout: LIMIT_MS }).toBe(2n);
});

test('a node that refuses now and then keeps its connection', { timeout: LIMIT_MS }, async () => {
  const calls = new Set<unknown>();
  let asked = 0;
  await using server = await startStubServer({
    onAppend: (call, request) => {
      calls.add(call);
      asked += 1;
      if (asked % 2 === 0) refuse(call, request);
      else acknowledge(call, request, 0);
    },
  });
  await using store = openEventStore(server.url);
  for (let round = 0; round < 4; round += 1) {
    expect(await append(store)).toMatchObject({ revision: 0n });
    await delay(400);
  }
  expect(calls.size).toBe(1);
});

test('requests are refused at once by a node without a leader, also while it answers reads', async () => {
  let asked = 0;
  await using server = await startStubServer({
    onAppend: (call, request) => {
      asked += 1;
      refuse(call, request);
    },
    onRead: (call) => call.end(),
  });
  await using store = openEventStore(server.url, { answerWithinMs: 100 });
  const refusal = async (): Promise<string> => {
    expect(await store.last('test-1')).toBeNull();
    return append(store).then(String, String);
  };
  await expect.poll(refusal).toContain('did not answer 5 times in a row');
  const askedBefore = asked;
  expect(await refusal()).toContain('is not asked');
  expect(asked).toBe(askedBefore);
});
