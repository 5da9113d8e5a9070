import { AckPolicy, type ConsumerInfo, type JetStreamManager } from 'nats';
import { DELIVERIES_STREAM, DELIVERY_CONSUMER } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';

/**
 * Maximum unacknowledged messages of all processes: enough for a dozen that fetch ahead. A message is acknowledged as soon as
 * its deliveries are claimed.
 */
const ACK_PENDING_MAX = 3_000;
/** The same of earlier releases. */
const EARLIER_RELEASES_CHOSE = 10_000;
const ACK_WAIT_MS = 30_000;
const NANOS_PER_MS = 1_000_000;
/** JetStream: the consumer does not exist. */
const CONSUMER_NOT_FOUND = 10_014;

const readConsumer = async (manager: JetStreamManager): Promise<ConsumerInfo | null> => {
  try {
    return await manager.consumers.info(DELIVERIES_STREAM, DELIVERY_CONSUMER);
  } catch (error) {
    const { api_error } = error as { api_error?: { err_code?: number } };
    if (api_error?.err_code === CONSUMER_NOT_FOUND) return null;
    throw error;
  }
};

const addConsumer = (manager: JetStreamManager): Promise<ConsumerInfo> =>
  manager.consumers.add(DELIVERIES_STREAM, {
    durable_name: DELIVERY_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
    max_ack_pending: ACK_PENDING_MAX,
  });

/**
 * Creates the stream and the consumer if missing: on start, and after a NATS server lost its storage. An existing consumer keeps
 * its values, since an operator may have chosen them, but not a limit that an earlier release chose. Servers from 2.10 on refuse
 * to create one that exists with other values.
 */
export const ensureDeliveryConsumer = async (
  nats: Pick<Nats, 'manager' | 'streamSettings'>,
): Promise<void> => {
  await ensureStreams(nats);
  const { manager } = nats;
  const existing = await readConsumer(manager);
  if (existing === null) {
    // Another process that creates it at the same time with other values was first.
    await addConsumer(manager).catch(async (error: unknown) => {
      if ((await readConsumer(manager)) === null) throw error;
    });
  } else if (existing.config.max_ack_pending === EARLIER_RELEASES_CHOSE) {
    const max_ack_pending = ACK_PENDING_MAX;
    await manager.consumers.update(DELIVERIES_STREAM, DELIVERY_CONSUMER, { max_ack_pending });
  }
};
