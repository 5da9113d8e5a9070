import { AckPolicy } from 'nats';
import { DELIVERIES_STREAM, DELIVERY_CONSUMER } from '#contracts/messages/subjects.ts';
import { ensureStreams, type Nats } from '#platform/nats/connection.ts';

/** Messages handed out and not acknowledged; one is, as soon as its delivery is claimed. */
const ACK_PENDING_MAX = 10_000;
const ACK_WAIT_MS = 30_000;
const NANOS_PER_MS = 1_000_000;

/** Makes sure that there are a stream and a consumer: at the start, and when the server came back without them. */
export const ensureDeliveryConsumer = async ({ manager }: Pick<Nats, 'manager'>): Promise<void> => {
  await ensureStreams(manager);
  await manager.consumers.add(DELIVERIES_STREAM, {
    durable_name: DELIVERY_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
    max_ack_pending: ACK_PENDING_MAX,
  });
};
