import pino from 'pino';
import { expect, test } from 'vitest';
import { INGEST_CONSUMER, OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { openNats } from '#platform/nats/connection.ts';
import { consumeAsLeader } from '#services/ingest/queue/single-active-consumer.ts';
import { createTestDatabase, createTestNats } from '#tests/stack/database.ts';

const POLL = { timeout: 60_000 } as const;

test('a consumer that was deleted, alone or with its stream, is created again, and observations keep their order', async () => {
  await using own = new AsyncDisposableStack();
  const server = await createTestNats();
  own.defer(() => server.stop());
  const database = await createTestDatabase();
  own.defer(() => database.drop());
  const nats = own.use(await openNats(server.url, 'test'));
  const recorded: number[] = [];
  let gate = Promise.resolve();
  const intake = {
    isBrandRegistered: async () => true,
    submit: async (input: unknown) => {
      await gate;
      recorded.push((input as { readonly number: number }).number);
      return { events: 0, totals: null };
    },
    leadWith: () => undefined,
    deleteExpired: async () => undefined,
  };
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  const stopping = new AbortController();
  const consuming = consumeAsLeader({
    nats,
    intake,
    log,
    concurrency: 2,
    databaseUrl: database.url,
    signal: stopping.signal,
  });
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  own.defer(async () => {
    stopping.abort();
    open();
    await consuming;
  });
  const publish = (...numbers: readonly number[]) =>
    Promise.all(
      numbers.map((number) => nats.jetstream.publish('observations.one', JSON.stringify({ number }))),
    );
  const times = (message: string): number => logged.filter((msg) => msg === message).length;

  await publish(1);
  await expect.poll(() => recorded, POLL).toEqual([1]);

  await nats.manager.consumers.delete(OBSERVATIONS_STREAM, INGEST_CONSUMER);
  await publish(2);
  await expect.poll(() => recorded, POLL).toEqual([1, 2]);
  expect(times('queue consumer lost; creating it again')).toBe(1);

  // Observations without acknowledgement come again, before later ones.
  gate = opened;
  await publish(3);
  await publish(4);
  const pending = async (): Promise<number> =>
    (await nats.manager.consumers.info(OBSERVATIONS_STREAM, INGEST_CONSUMER)).num_ack_pending;
  await expect.poll(pending, POLL).toBe(2);
  await nats.manager.consumers.delete(OBSERVATIONS_STREAM, INGEST_CONSUMER);
  await publish(5);
  await expect.poll(() => times('queue consumer lost; creating it again'), POLL).toBe(2);
  open();
  await expect.poll(() => recorded, POLL).toEqual([1, 2, 3, 3, 4, 5]);

  await nats.manager.streams.delete(OBSERVATIONS_STREAM);
  await expect.poll(() => times('ingest consumer started'), POLL).toBe(4);
  await publish(6);
  await expect.poll(() => recorded.at(-1), POLL).toBe(6);
  expect(times('queue consumer lost; creating it again')).toBe(3);
});
