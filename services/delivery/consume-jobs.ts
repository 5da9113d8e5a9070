import type { ConsumerMessages, JsMsg } from 'nats';
import { DELIVERIES_STREAM, DELIVERY_CONSUMER, type DeliveriesDue } from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureDeliveryConsumer } from './jetstream-consumer.ts';
import type { Worker } from './worker.ts';

/**
 * FETCHED_MESSAGES: messages fetched ahead; one message holds one delivery id or some dozens. IDS_PER_BATCH:
 * number of ids after which a batch is full.
 */
const FETCHED_MESSAGES = 100;
const IDS_PER_BATCH = 500;
/** Batches claimed concurrently: one is read from Postgres while another is queued for sending. */
const CONCURRENT_CLAIMS = 2;
/** Duration of one pull request. A server that restarted without the stream is noticed within this time. */
const PULL_MS = 4_000;
const RETRY_MS = 500;

/** A message and its delivery ids. */
type DueMessage = { readonly message: JsMsg; readonly ids: readonly string[] };

/** UUIDs that Postgres can parse. Any other id would fail the whole batch, on each redelivery again. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const idsOf = (message: JsMsg): readonly string[] => {
  try {
    const { delivery_ids } = message.json<Partial<DeliveriesDue>>();
    const candidates: readonly unknown[] = Array.isArray(delivery_ids) ? delivery_ids : [];
    return candidates.filter((id): id is string => typeof id === 'string' && UUID.test(id));
  } catch {
    return [];
  }
};

/** Removes messages from the head of the list until they hold IDS_PER_BATCH ids. */
const shiftBatch = (arrived: DueMessage[]): readonly DueMessage[] => {
  let ids = 0;
  const enough = arrived.findIndex((one) => (ids += one.ids.length) >= IDS_PER_BATCH);
  return arrived.splice(0, enough < 0 ? arrived.length : enough + 1);
};

/**
 * Consumes due delivery ids from JetStream and passes them to the worker. A message is acknowledged once its
 * deliveries are claimed. From then on the lease is in Postgres, and the sweep finds the delivery if the worker
 * dies. Returns when aborted.
 */
export const consumeDue = async (
  nats: Nats,
  worker: Worker,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  const arrived: DueMessage[] = [];
  const arrival = createWakeSignal();

  const claimBatch = async (batch: readonly DueMessage[]): Promise<void> => {
    try {
      await worker.take(batch.flatMap(({ ids }) => ids));
      for (const { message } of batch) message.ack();
    } catch (error) {
      // Not acknowledged: JetStream redelivers the messages, and the sweep finds the deliveries too.
      log.warn({ err: error, messages: batch.length }, 'claiming deliveries failed; retrying');
      await pause(RETRY_MS, signal);
    }
  };

  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const claimLoop = async (): Promise<void> => {
    while (!signal.aborted) {
      if (arrived.length === 0) {
        await arrival.next({ signal });
        continue;
      }
      await Promise.race([worker.hasCapacity(), aborted]);
      if (signal.aborted) return;
      await claimBatch(shiftBatch(arrived));
    }
  };
  const claimLoops = Array.from({ length: CONCURRENT_CLAIMS }, claimLoop);

  let messages: ConsumerMessages | undefined;
  const stop = (): void => {
    void messages?.close();
  };
  signal.addEventListener('abort', stop, { once: true });
  while (!signal.aborted) {
    try {
      await ensureDeliveryConsumer(nats);
      const consumer = await nats.jetstream.consumers.get(DELIVERIES_STREAM, DELIVERY_CONSUMER);
      messages = await consumer.consume({
        max_messages: FETCHED_MESSAGES,
        expires: PULL_MS,
        abort_on_missing_resource: true,
        callback: (message) => {
          arrived.push({ message, ids: idsOf(message) });
          arrival.notify();
        },
      });
      if (signal.aborted) stop();
      const reason = await messages.closed();
      if (reason) throw reason;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ reason: (error as Error).message }, 'queue consumer failed; restarting');
    }
    await pause(RETRY_MS, signal);
  }
  await Promise.all(claimLoops);
};
