import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  DEAD_LETTERS_STREAM,
  OBSERVATION_DEAD_LETTER,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { consumeObservations } from '#services/ingest/queue/consumer.ts';
import { createTestNats } from '#tests/stack/database.ts';

const LIMIT_MS = 30_000;
const KEPT_MS = 5_000;
const NANOS_PER_MS = 1_000_000;
const resources = new AsyncDisposableStack();
let nats: Nats;
beforeAll(async () => {
  const server = await createTestNats();
  resources.defer(() => server.stop());
  nats = resources.use(await openNats(server.url, 'test'));
});
afterAll(() => resources.disposeAsync());

test('a message that is as large as NATS takes ends nothing: its beginning is dead-lettered, and the next one is processed', async () => {
  const submitted: unknown[] = [];
  const intake = {
    isBrandRegistered: async () => true,
    submit: async (input: unknown) => {
      submitted.push(input);
      return { events: 0, totals: null };
    },
  };
  const largest = nats.connection.info?.max_payload ?? 0;
  expect(largest).toBeGreaterThan(1_000_000);
  // The stream counts the subject and its own bytes too.
  const length = largest - 100;
  await nats.jetstream.publish('observations.one', 'x'.repeat(length));
  await nats.jetstream.publish('observations.one', JSON.stringify({ name: 'next' }));
  resources.use(await consumeObservations({ nats, intake, log: silentLog(), concurrency: 2 }));
  await expect
    .poll(async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages, {
      timeout: LIMIT_MS,
    })
    .toBe(0);
  expect(submitted).toEqual([{ name: 'next' }]);
  const letter = await nats.manager.streams.getMessage(DEAD_LETTERS_STREAM, {
    last_by_subj: OBSERVATION_DEAD_LETTER,
  });
  expect(letter.header.get('reason')).toContain('larger than 1000000 bytes');
  expect(letter.header.get('truncated')).toBe(String(length));
  expect(letter.data).toHaveLength(64 * 1024);
});

test('an observation at which a server fails each time is dead-lettered at the end of the time for which the queue keeps it', async () => {
  await using own = new AsyncDisposableStack();
  const server = await createTestNats();
  own.defer(() => server.stop());
  const short = own.use(await openNats(server.url, 'test'));
  const { config } = await short.manager.streams.info(OBSERVATIONS_STREAM);
  const kept = KEPT_MS * NANOS_PER_MS;
  await short.manager.streams.update(OBSERVATIONS_STREAM, {
    ...config,
    max_age: kept,
    duplicate_window: kept,
  });
  const intake = {
    isBrandRegistered: async () => true,
    submit: () => Promise.reject(Object.assign(new Error('the server crashed'), { code: '57P02' })),
  };
  own.use(await consumeObservations({ nats: short, intake, log: silentLog(), concurrency: 2 }));
  await short.jetstream.publish('observations.one', JSON.stringify({ name: 'poisonous' }));
  const letters = async () => (await short.manager.streams.info(DEAD_LETTERS_STREAM)).state.messages;
  await expect.poll(letters, { timeout: LIMIT_MS }).toBe(1);
  const letter = await short.manager.streams.getMessage(DEAD_LETTERS_STREAM, { seq: 1 });
  expect(letter.header.get('reason')).toBe('the server crashed');
  expect(letter.json()).toEqual({ name: 'poisonous' });
});
