import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLAIM_LEASE_MS } from '#application/delivery-outbox/claim.ts';
import type { Worker } from '#services/delivery/worker.ts';
import { newDelivery } from './new-delivery.ts';
import { openReceivers, type Receivers } from './receivers.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

/** A worker that was stopped during a send, until another has claimed the delivery. */

let stack: DeliveryStack;
let receivers: Receivers;
beforeAll(async () => {
  [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
});
afterAll(async () => {
  await receivers[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

/** Claims and sends a delivery by one worker, and then by another. The receiver has answered neither. */
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
  // The first worker may renew its claim at any time, until the other has it.
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
