import { chunk } from 'es-toolkit/array/chunk';
import { DELIVERIES_DUE, type DeliveriesDue, DUE_IDS_MAX } from '#contracts/messages/subjects.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';

const IN_FLIGHT_MAX = 500;
/** Further ids are left to the sweep, so that nothing piles up. */
const CALLS_MAX = 16;
const PUBLISH_TIMEOUT_MS = 5_000;

/** Call after the commit. The sweep publishes lost messages again. Rejects when the queue did not accept a message. */
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

/** The notifier neither waits nor throws. While NATS is away it drops ids: the sweep finds the deliveries. */
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
