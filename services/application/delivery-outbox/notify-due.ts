import { chunk } from 'es-toolkit';
import { DELIVERIES_DUE, type DeliveriesDue, DUE_IDS_MAX } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** Publications that wait for the server's word at once. */
const IN_FLIGHT_MAX = 500;
const PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Tells the delivery process that these are due, after they were committed. Losing a message loses nothing: whatever
 * is due in Postgres is published again by its sweep. Rejects when the queue did not take one of them.
 */
export const publishDue = async (nats: Nats, deliveryIds: readonly string[]): Promise<void> => {
  for (const some of chunk(chunk(deliveryIds, DUE_IDS_MAX), IN_FLIGHT_MAX)) {
    await Promise.all(
      some.map((delivery_ids) => {
        const due: DeliveriesDue = { delivery_ids };
        return nats.jetstream.publish(DELIVERIES_DUE, JSON.stringify(due), { timeout: PUBLISH_TIMEOUT_MS });
      }),
    );
  }
};
