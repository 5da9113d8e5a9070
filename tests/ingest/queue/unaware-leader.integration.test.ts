import pino from 'pino';
import { expect, test } from 'vitest';
import { openNats } from '#platform/nats/connection.ts';
import { consumeAsLeader } from '#services/ingest/queue/single-active-consumer.ts';
import { createTestDatabase, createTestNats } from '#tests/stack/database.ts';
import { proxied } from '../../faults/fault-proxy.ts';

const POLL = { timeout: 60_000 } as const;
const STARTED = 'ingest consumer started';
const CONSUMER_LOST = 'queue consumer lost; creating it again';

test('a leader that loses Postgres and keeps NATS does not delete the consumer of the process that took over', async () => {
  await using own = new AsyncDisposableStack();
  const server = await createTestNats();
  own.defer(() => server.stop());
  const database = await createTestDatabase();
  own.defer(() => database.drop());
  const through = await proxied(database.url);
  const proxy = own.use(through.proxy);

  const start = async (databaseUrl: string) => {
    const nats = own.use(await openNats(server.url, 'test'));
    const [logged, recorded]: [string[], number[]] = [[], []];
    const stopping = new AbortController();
    const consuming = consumeAsLeader({
      nats,
      intake: {
        isBrandRegistered: async () => true,
        submit: async (input: unknown) => {
          recorded.push((input as { readonly number: number }).number);
          return { events: 0, totals: null };
        },
        leadWith: () => undefined,
        deleteExpired: async () => undefined,
      },
      log: pino({}, { write: (line: string) => void logged.push(JSON.parse(line).msg) }),
      concurrency: 2,
      databaseUrl,
      signal: stopping.signal,
    });
    own.defer(async () => {
      stopping.abort();
      await consuming;
    });
    return { nats, logged, recorded };
  };

  const former = await start(through.url);
  await expect.poll(() => former.logged, POLL).toContain(STARTED);
  const next = await start(database.url);
  own.defer(() => proxy.set('pass'));
  proxy.set('mute');
  await expect.poll(() => next.logged, POLL).toContain(STARTED);
  await expect.poll(() => former.logged, POLL).toContain(CONSUMER_LOST);
  const hasGivenUp = () => former.logged.some((msg) => /^(lease lost|ingest failed; restarting)$/.test(msg));
  await expect.poll(hasGivenUp, POLL).toBe(true);
  expect(next.logged).not.toContain(CONSUMER_LOST);
  await next.nats.jetstream.publish('observations.one', JSON.stringify({ number: 1 }));
  await expect.poll(() => next.recorded, POLL).toEqual([1]);
  expect(former.recorded).toEqual([]);
});
