import { chunk } from 'es-toolkit/array/chunk';
import { DELIVERIES_DUE, type DeliveriesDue, DUE_IDS_MAX } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** Maximum published messages that wait for the acknowledgement of the server. */
const IN_FLIGHT_MAX = 500;
/** Milliseconds to wait for an acknowledgement. */
const PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Publishes the ids of due deliveries to the queue of the delivery process. Call it after the commit. A lost message
 * only causes a delay: the sweep of the delivery process publishes everything due in Postgres again. Rejects when the
 * queue did not accept a message.
 */
export const notifyDue = async (nats: Nats, deliveryIds: readonly string[]): Promise<void> => {
  for (const some of chunk(chunk(deliveryIds, DUE_IDS_MAX), IN_FLIGHT_MAX)) {
    await Promise.all(
      some.map((delivery_ids) => {
        const due: DeliveriesDue = { delivery_ids };
        return nats.jetstream.publish(DELIVERIES_DUE, JSON.stringify(due), { timeout: PUBLISH_TIMEOUT_MS });
      }),
    );
  }
};
