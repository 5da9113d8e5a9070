import { Metadata, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { allOf, caughtUp, confirmation, eventAt, type ReadCall, startStubServer } from './stub-server.ts';

/** The follower lacks the newest event, and the connection string prefers it. */

const LIMIT_MS = 30_000;
const SHOWN = { leader: 2n, follower: 1n } as const;

let resources = new AsyncDisposableStack();
afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

const openCluster = async () => {
  const subscribed: number[] = [];
  const ports: number[] = [];
  /** Answers as the server does: a follower refuses such a read and names the leader. */
  const refusesFollower = (call: ReadCall, port: number): boolean => {
    const [leader] = ports;
    if (port === leader || call.metadata.get('requires-leader')[0] !== 'true') return false;
    const metadata = new Metadata();
    metadata.set('exception', 'not-leader');
    metadata.set('leader-endpoint-host', '127.0.0.1');
    metadata.set('leader-endpoint-port', String(leader));
    call.emit('error', { code: status.NOT_FOUND, details: 'Leader info available', metadata });
    return true;
  };
  for (let node = 0; node < 2; node += 1) {
    const server = await startStubServer({
      members: () => ports,
      onRead: (call, options) => {
        if (options.hasSubscription()) {
          subscribed.push(server.port);
          call.write(confirmation());
          call.write(caughtUp());
        } else if (!refusesFollower(call, server.port)) {
          call.write(eventAt(server.port === ports[0] ? SHOWN.leader : SHOWN.follower));
          call.end();
        }
      },
    });
    resources.use(server);
    ports.push(server.port);
  }
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return { ports, subscribed, url: `esdb://${hosts}?tls=false&nodePreference=follower` };
};

describe('with a preference for followers', { timeout: LIMIT_MS }, () => {
  test('streams are read from the leader, and the log is followed at a follower', async () => {
    const { ports, subscribed, url } = await openCluster();
    const [, follower] = ports;
    const store = resources.use(openEventStore(url));
    expect(await store.last('test-1')).toMatchObject({ position: SHOWN.leader });
    expect(await allOf(store.read('test-1'))).toMatchObject([{ position: SHOWN.leader }]);
    expect(await store.head()).toBe(SHOWN.leader);
    await using log = store.follow({ after: null, prefixes: ['test-'], bufferItems: 1 });
    expect(await log.take(1)).toEqual([{ kind: 'caught_up' }]);
    expect(subscribed).toEqual([follower]);
  });

  test('a former leader answers no read, and the next one is answered by the new leader', async () => {
    const { ports, url } = await openCluster();
    const store = resources.use(openEventStore(url));
    expect(await store.last('test-1')).toMatchObject({ position: SHOWN.leader });
    ports.reverse();
    await expect(store.last('test-1')).rejects.toMatchObject({ type: 'not-leader' });
    expect(await store.last('test-1')).toMatchObject({ position: SHOWN.leader });
  });
});
