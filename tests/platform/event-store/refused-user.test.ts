import { status } from '@grpc/grpc-js';
import { afterAll, describe, expect, test } from 'vitest';
import { serverFaultOf } from '#platform/server-fault.ts';
import { createShortReads } from '#platform/event-store/short-reads.ts';
import { type EventStore, type EventStoreLimits, openEventStore } from '#platform/event-store/event-store.ts';
import { allOf, startStubServer } from './stub-server.ts';

const METADATA = {
  $correlationId: 'c',
  $causationId: 'c',
  request_id: 'c',
  actor: { kind: 'service', id: 'tests' },
} as const;
const ID = '00000000-0000-4000-8000-000000000009';
/** Calls: more than the failures after which requests are refused unasked. */
const CALLS = 8;

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const CALLS_OF: Readonly<Record<string, (store: EventStore) => Promise<unknown>>> = {
  append: (store) => store.append('test-1', -1n, [{ type: 'Tried', data: {} }], METADATA, () => ID),
  'read of the last event': (store) => store.last('test-1'),
  'read of the head': (store) => store.head(),
  'read of a stream': (store) => allOf(store.read('test-1')),
  subscription: async (store) => {
    await using follower = store.follow({ after: null, prefixes: ['test-'], bufferItems: 1 });
    return await follower.take(1);
  },
};
const LIMITS: Readonly<Record<string, EventStoreLimits>> = {
  'a request': { answerWithinMs: 1_000 },
  'background work': {},
};

const openRefusing = async (code: status, limits: EventStoreLimits) => {
  let asked = 0;
  const refuse = (call: { emit(event: 'error', error: object): unknown }): void => {
    asked += 1;
    call.emit('error', { code, details: 'Access Denied' });
  };
  const server = resources.use(await startStubServer({ onAppend: refuse, onRead: refuse }));
  return { store: resources.use(openEventStore(server.url, limits)), asked: () => asked };
};

describe.each([
  ['a wrong password', status.UNAUTHENTICATED],
  ['a missing right', status.PERMISSION_DENIED],
])('%s', (_reason, code) => {
  for (const [caller, limits] of Object.entries(LIMITS)) {
    test.each(Object.entries(CALLS_OF))(
      `fails the %s of ${caller} at once, each time, with what to do`,
      async (_call, call) => {
        const { store, asked } = await openRefusing(code, limits);
        for (let count = 1; count <= CALLS; count += 1) {
          const error = await call(store).catch((refusal: unknown) => refusal);
          expect(error).toMatchObject({ name: 'EventStoreDenied' });
          expect(String(error)).toMatch(/Access Denied.*check user and password in EVENT_STORE_URL/);
          expect(serverFaultOf(error), 'no fault that passes').toBeNull();
          expect(asked()).toBe(count);
        }
      },
    );
  }

  test('lets work go on that does without the log', async () => {
    const { store } = await openRefusing(code, {});
    expect(await createShortReads(1_000).ask(() => store.last('test-1'))).toBeNull();
  });
});
