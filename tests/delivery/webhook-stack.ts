import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import type { Worker } from '#services/delivery/worker.ts';
import { newDelivery, type Rule } from './new-delivery.ts';
import { type Behaviour, openReceivers, type Receivers } from './receivers.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

export type WebhookStack = DeliveryStack & {
  readonly receivers: Receivers;
  readonly sender: Worker;
  queueTo(
    path: string,
    ...behaviours: readonly Behaviour[]
  ): Promise<{ readonly rule: Rule; readonly delivery: NewDelivery; readonly id: string }>;
};

export const openWebhookStack = async (): Promise<WebhookStack> => {
  const [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
  return {
    ...stack,
    receivers,
    sender: stack.worker(),
    queueTo: async (path, ...behaviours) => {
      if (behaviours.length > 0) receivers.behave(path, ...behaviours);
      const rule = stack.rule();
      const target = { channel: 'webhook', url: receivers.url + path } as const;
      const delivery = newDelivery(rule, target, stack.clock.now());
      await stack.enqueue(delivery);
      return { rule, delivery, id: delivery.deliveryId };
    },
    [Symbol.asyncDispose]: async () => {
      // Receivers are disposed of first, which ends the requests that hang.
      await receivers[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
    },
  };
};
