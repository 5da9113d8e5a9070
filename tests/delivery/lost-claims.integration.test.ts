import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim, CLAIM_LEASE_MS } from '#application/delivery-outbox/claim.ts';
import { endpointOf } from '#application/delivery-outbox/target.ts';
import type { FinishedAttempt } from '#application/delivery-outbox/record-attempts.ts';
import { NO_TIMING } from '#platform/channels/send-outcome.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { droppedOutcomes } from '#platform/telemetry/metrics.ts';
import { createAttemptWriter } from '#services/delivery/attempt-writer.ts';
import type { Worker } from '#services/delivery/worker.ts';
import { newDelivery } from './new-delivery.ts';
import { openReceivers, type Receivers } from './receivers.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

/** Deliveries that another worker claims while the first one is stopped. */

let stack: DeliveryStack;
let receivers: Receivers;
beforeAll(async () => {
  [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
});
afterAll(async () => {
  await receivers[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

/** Sends by two workers; the receiver answers neither. */
const sendTwice = async (path: string) => {
  const replies: ServerResponse[] = [];
  receivers.behave(path, (response) => void replies.push(response));
  const rule = stack.rule();
  const target = { channel: 'webhook', url: receivers.url + path } as const;
  const delivery = newDelivery(rule, target, stack.clock.now());
  await stack.enqueue(delivery);
  const [stopped, other] = [stack.worker(), stack.worker()];
  await stopped.sweep();
  await expect.poll(() => replies.length).toBe(1);
  // Waits for the other's claim: until then the first worker may renew its own.
  const claimedByOther = async (): Promise<number> => {
    stack.clock.move(CLAIM_LEASE_MS);
    return other.sweep();
  };
  await expect.poll(claimedByOther).toBe(1);
  await expect.poll(() => replies.length).toBe(2);
  const answer = async (worker: Worker, reply: ServerResponse | undefined, status: number) => {
    reply?.writeHead(status).end();
    await worker.idle();
  };
  return {
    rule,
    id: delivery.deliveryId,
    answerStopped: (status: number) => answer(stopped, replies[0], status),
    answerOther: (status: number) => answer(other, replies[1], status),
  };
};
const failureStreaks = async (alertId: string): Promise<number | null> =>
  (await stack.pool.query('select from delivery.failing where alert_id = $1', [alertId])).rowCount;

describe('after a worker has lost the claim of a delivery that it sends', () => {
  test.for([503, 410])(
    'its failure with %i does not replace the outcome of the new owner',
    async (status) => {
      const { id, rule, answerStopped, answerOther } = await sendTwice(`/lost/${status}`);
      await answerStopped(status);
      expect(await stack.row(id)).toMatchObject({ status: 'queued', attempts: 0 });
      expect(await failureStreaks(rule.alertId)).toBe(0);
      await answerOther(200);
      expect(await stack.row(id)).toMatchObject({ status: 'delivered', attempts: 1 });
      expect(await stack.attempts(id)).toMatchObject([{ outcome: 'delivered', status_code: 200 }]);
    },
  );

  test('its success ends the delivery, and the outcome of the new owner is dropped', async () => {
    const { id, rule, answerStopped, answerOther } = await sendTwice('/lost/delivered');
    await answerStopped(204);
    expect(await stack.row(id)).toMatchObject({ status: 'delivered', attempts: 1 });
    await answerOther(503);
    expect(await stack.row(id)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(await stack.attempts(id)).toMatchObject([{ outcome: 'delivered', status_code: 204 }]);
    expect(await failureStreaks(rule.alertId)).toBe(0);
  });
});

describe('outcomes that Postgres took', () => {
  const WORKER = 'worker_writes';
  const target = { channel: 'webhook', url: 'https://hooks.shop.example/in' } as const;
  const dropped = async (): Promise<number> => (await droppedOutcomes.get()).values[0]?.value ?? 0;

  const queue = async (count: number): Promise<readonly string[]> => {
    const deliveries = Array.from({ length: count }, () =>
      newDelivery(stack.rule(), target, stack.clock.now()),
    );
    await stack.enqueue(...deliveries);
    return deliveries.map(({ deliveryId }) => deliveryId);
  };
  const claimed = async (count: number): Promise<readonly string[]> => {
    const ids = await queue(count);
    const { deliveries } = await claim(stack.pool, {
      workerId: WORKER,
      now: stack.clock.now(),
      endpoints: [endpointOf(target, '')],
      places: count,
      groupPlaces: count,
      groups: new Map(),
    });
    expect(deliveries).toHaveLength(count);
    return ids;
  };
  const delivered = (deliveryId: string): FinishedAttempt => ({
    deliveryId,
    ...stack.rule(),
    channel: 'webhook',
    endpoint: endpointOf(target, ''),
    attempt: 1,
    attemptedAt: stack.clock.now().toISOString(),
    outcome: 'delivered',
    nextAttemptAt: null,
    sent: {
      delivered: true,
      failure: null,
      status_code: 204,
      reason: null,
      duration_ms: 1,
      timing: NO_TIMING,
      answer: null,
      retry_after_ms: null,
      terminal: false,
    },
  });
  const openWriter = (faults: Partial<Database>) => {
    let lines = '';
    const pool = new Proxy(stack.pool, {
      get: (of, key) => {
        const value: unknown = Reflect.get(faults, key) ?? Reflect.get(of, key);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
    const log = pino({}, { write: (line: string) => (lines += line) });
    const { signal } = new AbortController();
    const of = { pool, claimNow: () => stack.clock.now(), log, workerId: WORKER, signal };
    const nothing = { written: () => undefined, isAwaited: () => false };
    return { writer: createAttemptWriter(of, nothing), lines: () => lines };
  };
  const lost = (): Promise<never> => Promise.reject(new Error('connection lost'));

  test('are not counted as dropped when the answer was lost, but those without a claim are', async () => {
    const [id = ''] = await claimed(1);
    const before = await dropped();
    let answersLost = 0;
    const query = async (...asked: readonly unknown[]) => {
      const result = await (stack.pool.query as (...of: readonly unknown[]) => Promise<unknown>)(...asked);
      if ((asked[0] as { name?: string }).name !== 'record attempts' || answersLost > 0) return result;
      answersLost += 1;
      return lost();
    };
    const { writer, lines } = openWriter({ query: query as unknown as Database['query'] });
    writer.add(delivered(id));
    await writer.close();
    expect(answersLost).toBe(1);
    expect(await stack.row(id)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(await dropped()).toBe(before);
    expect(lines()).not.toContain('outcomes dropped');
    const { writer: second } = openWriter({});
    second.add(delivered(id));
    await second.close();
    expect(await dropped()).toBe(before + 1);
  });
});
