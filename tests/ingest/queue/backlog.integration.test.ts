import { afterAll, beforeAll, expect, test } from 'vitest';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { INGEST_CONSUMER, OBSERVATIONS_STREAM, observationSubject } from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { headersFrom, type Nats, openNats } from '#platform/nats/connection.ts';
import { consumeObservations } from '#services/ingest/queue/consumer.ts';
import type { BrandRegister, Intake } from '#services/ingest/intake-types.ts';
import { createTestNats } from '#tests/stack/database.ts';

const POLL = { timeout: 60_000 } as const;
const ACK_WAIT_MS = 1_500;
const TIMEOUTS = 4;
const WAITING_MAX = 8;
const BRANDS = ['a.example', 'b.example', 'c.example'];
const MESSAGES = 60;

const resources = new AsyncDisposableStack();
let nats: Nats;
beforeAll(async () => {
  const server = await createTestNats();
  resources.defer(() => server.stop());
  nats = resources.use(await openNats(server.url, 'test'));
});
afterAll(() => resources.disposeAsync());

type Estimate = { readonly type: 'traffic.estimate'; readonly domain: string; readonly number: number };

const estimateOf = (number: number): Estimate => ({
  type: 'traffic.estimate',
  domain: BRANDS[number % BRANDS.length] as string,
  number,
});

test('a backlog that nothing is processed of is delivered up to the limit, and once; afterwards each observation is processed once, in the order of its brand', async () => {
  const gate = Promise.withResolvers<void>();
  const submitted: Estimate[] = [];
  const intake: Intake & BrandRegister = {
    isBrandRegistered: async () => true,
    submit: async (input) => {
      await gate.promise;
      submitted.push(input as Estimate);
      return { events: 0, totals: null };
    },
  };
  const all = Array.from({ length: MESSAGES }, (_, number) => estimateOf(number));
  for (const estimate of all)
    await nats.jetstream.publish(observationSubject(estimate.domain), JSON.stringify(estimate), {
      headers: headersFrom(routingHeadersOf(estimate)),
    });
  await using own = new AsyncDisposableStack();
  const limits = { waitingMax: WAITING_MAX, ackWaitMs: ACK_WAIT_MS };
  own.use(await consumeObservations({ nats, intake, log: silentLog(), concurrency: 2, ...limits }));
  own.defer(() => gate.resolve());
  const deliveries = async (): Promise<number> =>
    (await nats.manager.consumers.info(OBSERVATIONS_STREAM, INGEST_CONSUMER)).delivered.consumer_seq;
  await expect.poll(deliveries, POLL).toBeGreaterThanOrEqual(WAITING_MAX);
  await pause(TIMEOUTS * ACK_WAIT_MS);
  // Waiting deliveries take memory.
  expect(await deliveries()).toBe(WAITING_MAX);

  gate.resolve();
  const left = async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages;
  await expect.poll(left, POLL).toBe(0);
  for (const brand of BRANDS) {
    const ofBrand = ({ domain }: Estimate): boolean => domain === brand;
    expect(submitted.filter(ofBrand)).toEqual(all.filter(ofBrand));
  }
  expect(await deliveries()).toBe(MESSAGES);
});
