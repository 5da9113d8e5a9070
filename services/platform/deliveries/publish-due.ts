import { DELIVERY_DUE, type DeliveryDue } from '#contracts/messages/subjects.ts';
import type { Nats } from '../nats.ts';

/** Publications that wait for the server's word at once. */
const IN_FLIGHT_MAX = 500;
const PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Tells the delivery process that these are due, after they were committed. Losing a message loses nothing: whatever
 * is due in Postgres is published again by its sweep. Rejects when the queue did not take one of them.
 */
export const publishDue = async (nats: Nats, deliveryIds: readonly string[]): Promise<void> => {
  for (let from = 0; from < deliveryIds.length; from += IN_FLIGHT_MAX) {
    await Promise.all(
      deliveryIds.slice(from, from + IN_FLIGHT_MAX).map((delivery_id) => {
        const due: DeliveryDue = { delivery_id };
        return nats.jetstream.publish(DELIVERY_DUE, JSON.stringify(due), { timeout: PUBLISH_TIMEOUT_MS });
      }),
    );
  }
};
