import { chunk } from 'es-toolkit/array/chunk';
import { DELIVERIES_DUE, type DeliveriesDue, DUE_IDS_MAX } from '#contracts/messages/subjects.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** Maximum published messages that wait for the acknowledgement of the server. */
const IN_FLIGHT_MAX = 500;
/** Maximum calls of a notifier that wait for NATS. Further ids are left to the sweep, so that nothing piles up. */
const CALLS_MAX = 16;
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

/**
 * Creates a function that notifies the delivery process, and neither waits nor throws. Ids are dropped while NATS is not
 * connected or does not answer: the sweep finds the deliveries.
 */
export const createDueNotifier = (
  nats: Promise<Nats>,
  log: Log,
): ((deliveryIds: readonly string[]) => void) => {
  let opened: Nats | null = null;
  let calls = 0;
  const connect = async (): Promise<void> => {
    opened = await nats;
  };
  // Rejects only when the process ends before NATS was there.
  connect().catch(() => undefined);
  const notify = async (connected: Nats, deliveryIds: readonly string[]): Promise<void> => {
    calls += 1;
    try {
      await notifyDue(connected, deliveryIds);
    } catch (error) {
      log.warn({ err: error }, 'delivery notification failed; left to the sweep');
    } finally {
      calls -= 1;
    }
  };
  return (deliveryIds) => {
    if (opened === null || deliveryIds.length === 0 || calls >= CALLS_MAX) return;
    void notify(opened, deliveryIds);
  };
};
