import { AckPolicy } from 'nats';
import { DELIVERIES_STREAM, DELIVERY_CONSUMER } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureConsumer } from '#platform/nats/durable-consumer.ts';
import { ensureStreams } from '#platform/nats/streams.ts';

/** Unacknowledged messages of all processes: enough for a dozen that fetch ahead. */
const ACK_PENDING_MAX = 3_000;
const ACK_WAIT_MS = 30_000;
const NANOS_PER_MS = 1_000_000;
/** Call also after NATS lost its storage. An existing consumer keeps its values. */
export const ensureDeliveryConsumer = async (
  nats: Pick<Nats, 'manager' | 'streamSettings'>,
): Promise<void> => {
  await ensureStreams(nats);
  await ensureConsumer(nats.manager, DELIVERIES_STREAM, {
    durable_name: DELIVERY_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
    max_ack_pending: ACK_PENDING_MAX,
  });
};
