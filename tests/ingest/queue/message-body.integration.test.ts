import type { PubAck } from 'nats';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  BODY_BYTES_HEADER,
  BODY_SEQUENCE_HEADER,
  routingHeadersOf,
} from '#contracts/messages/observation-headers.ts';
import {
  DEAD_LETTERS_STREAM,
  LARGE_OBSERVATION_BYTES,
  OBSERVATION_BODIES_STREAM,
  OBSERVATION_DEAD_LETTER,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import { silentLog } from '#platform/logger.ts';
import { publishObservation } from '#platform/nats/claim-check.ts';
import { headersFrom, type Nats, openNats } from '#platform/nats/connection.ts';
import { consumeObservations } from '#services/ingest/queue/consumer.ts';
import { MessageGone, openBodies } from '#services/ingest/queue/message-body.ts';
import { createTestNats } from '#tests/stack/database.ts';

const LIMIT_MS = 30_000;
const resources = new AsyncDisposableStack();
let nats: Nats;
beforeAll(async () => {
  const server = await createTestNats();
  resources.defer(() => server.stop());
  nats = resources.use(await openNats(server.url, 'test'));
});
afterAll(() => resources.disposeAsync());
beforeEach(async () => {
  for (const stream of [OBSERVATIONS_STREAM, OBSERVATION_BODIES_STREAM, DEAD_LETTERS_STREAM])
    await nats.manager.streams.purge(stream);
});

const messagesOf = async (stream: string): Promise<number> =>
  (await nats.manager.streams.info(stream)).state.messages;

const chunkOf = (chunk: number, bytes: number) => ({
  type: 'ad_library.scan',
  brand_domain: 'shop.example',
  chunk,
  filling: 'a'.repeat(bytes),
});
const publicationOf = (observation: object, msgID?: string) => ({
  subject: 'observations.shop_example',
  data: new TextEncoder().encode(JSON.stringify(observation)),
  headers: routingHeadersOf(observation),
  ...(msgID === undefined ? {} : { msgID }),
});

const consumeAll = async (): Promise<readonly unknown[]> => {
  const submitted: unknown[] = [];
  const intake = {
    isBrandRegistered: async () => true,
    submit: async (input: unknown) => {
      submitted.push((input as { readonly chunk?: unknown }).chunk);
      return { events: 0, totals: null };
    },
  };
  await using consumer = await consumeObservations({ nats, intake, log: silentLog(), concurrency: 2 });
  expect(consumer).toBeDefined();
  await expect.poll(() => messagesOf(OBSERVATIONS_STREAM), { timeout: LIMIT_MS }).toBe(0);
  return submitted;
};

test('a body is read from the stream, also from one without direct reads', async () => {
  const { seq } = await nats.jetstream.publish('observations.a', 'a body');
  const { config } = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  for (const allow_direct of [false, true]) {
    await nats.manager.streams.update(OBSERVATIONS_STREAM, { ...config, allow_direct });
    const bodies = openBodies(nats, silentLog());
    const message = { seq, subject: 'observations.a', headers: headersFrom({}) };
    // Without direct reads only the first read waits.
    for (let count = 0; count < 20; count += 1) {
      const { bytes, apart, fault } = await bodies.read(message);
      expect([Buffer.from(bytes).toString(), apart, fault]).toEqual(['a body', null, null]);
    }
    await expect(bodies.read({ ...message, seq: seq + 1 })).rejects.toThrow(MessageGone);
  }
});

test('large bodies are stored apart, keep their order among small ones, and are removed once recorded', async () => {
  const sizes = [LARGE_OBSERVATION_BYTES, 10, 900_000, 10, LARGE_OBSERVATION_BYTES - 200];
  for (const [chunk, bytes] of sizes.entries())
    await publishObservation(nats, publicationOf(chunkOf(chunk, bytes)));
  expect(await messagesOf(OBSERVATION_BODIES_STREAM)).toBe(2);
  const { state } = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  expect(state.bytes).toBeLessThan(LARGE_OBSERVATION_BYTES + 5_000);
  expect(await consumeAll()).toEqual([0, 1, 2, 3, 4]);
  expect(await messagesOf(OBSERVATION_BODIES_STREAM)).toBe(0);
  expect(await messagesOf(DEAD_LETTERS_STREAM)).toBe(0);
});

test('a large observation that is published again is stored and submitted once', async () => {
  const publication = publicationOf(chunkOf(1, 100_000), 'the same');
  await publishObservation(nats, publication);
  await publishObservation(nats, publication);
  expect(await messagesOf(OBSERVATION_BODIES_STREAM)).toBe(1);
  expect(await consumeAll()).toEqual([1]);
  await publishObservation(nats, publication);
  expect(await messagesOf(OBSERVATIONS_STREAM)).toBe(0);
});

test('a large observation whose publisher was killed between body and message can be published again', async () => {
  const publication = publicationOf(chunkOf(1, 100_000), 'interrupted');
  await nats.jetstream.publish('observation_bodies.shop_example', publication.data, { msgID: 'interrupted' });
  await publishObservation(nats, publication);
  expect(await messagesOf(OBSERVATION_BODIES_STREAM)).toBe(1);
  expect(await consumeAll()).toEqual([1]);
});

test('a refused large observation is dead-lettered with its body, and the body is removed', async () => {
  const { subject, headers } = publicationOf(chunkOf(1, 1));
  await publishObservation(nats, { subject, headers, data: new TextEncoder().encode('x'.repeat(100_000)) });
  expect(await consumeAll()).toEqual([]);
  const letter = await nats.manager.streams.getMessage(DEAD_LETTERS_STREAM, {
    last_by_subj: OBSERVATION_DEAD_LETTER,
  });
  expect(letter.header.get('reason')).toContain('not JSON');
  expect(letter.data).toHaveLength(100_000);
  expect(await messagesOf(OBSERVATION_BODIES_STREAM)).toBe(0);
});

test.each([
  {
    name: 'the body of another subject',
    subject: 'observation_bodies.other_example',
    headers: ({ seq }: PubAck, bytes: number) => ({
      [BODY_SEQUENCE_HEADER]: `${seq}`,
      [BODY_BYTES_HEADER]: `${bytes}`,
    }),
    reason: 'names a body of another subject',
    left: 1,
  },
  {
    name: 'another length',
    subject: 'observation_bodies.shop_example',
    headers: ({ seq }: PubAck) => ({ [BODY_SEQUENCE_HEADER]: `${seq}`, [BODY_BYTES_HEADER]: '10' }),
    reason: 'is not the length of the body',
    left: 0,
  },
  {
    name: 'no number',
    subject: 'observation_bodies.shop_example',
    headers: (_: PubAck, bytes: number) => ({
      [BODY_SEQUENCE_HEADER]: 'first',
      [BODY_BYTES_HEADER]: `${bytes}`,
    }),
    reason: 'is no sequence number',
    left: 1,
  },
])('a message whose headers name $name is dead-lettered and takes no body of others', async (row) => {
  const { data, headers } = publicationOf(chunkOf(1, 100_000));
  const stored = await nats.jetstream.publish(row.subject, data);
  const stated = row.headers(stored, data.length);
  await nats.jetstream.publish('observations.shop_example', '', {
    headers: headersFrom({ ...headers, ...stated }),
  });
  await publishObservation(nats, publicationOf(chunkOf(2, 10)));
  expect(await consumeAll()).toEqual([2]);
  const letter = await nats.manager.streams.getMessage(DEAD_LETTERS_STREAM, {
    last_by_subj: OBSERVATION_DEAD_LETTER,
  });
  expect(letter.header.get('reason')).toContain(row.reason);
  expect(await messagesOf(OBSERVATION_BODIES_STREAM)).toBe(row.left);
});

test('a message whose body has expired ends nothing', async () => {
  await publishObservation(nats, publicationOf(chunkOf(1, 100_000)));
  await nats.manager.streams.purge(OBSERVATION_BODIES_STREAM);
  await publishObservation(nats, publicationOf(chunkOf(2, 10)));
  expect(await consumeAll()).toEqual([2]);
});
