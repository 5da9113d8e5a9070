import type { Consumer, ConsumerMessages, JsMsg } from 'nats';
import { DELIVERIES_STREAM, DELIVERY_CONSUMER, type DeliveriesDue } from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureDeliveryConsumer } from './jetstream-consumer.ts';
import type { Worker } from './worker.ts';

/** FETCHED_MESSAGES are fetched ahead, each with one delivery id or some dozens. IDS_PER_BATCH fill a batch. */
const FETCHED_MESSAGES = 100;
const IDS_PER_BATCH = 500;
/** One batch is read from Postgres while another is queued for sending. */
const CONCURRENT_CLAIMS = 2;
/** A server that restarted without the stream is noticed within this time. */
const PULL_MS = 4_000;
const RETRY_MS = 500;

type DueMessage = { readonly message: JsMsg; readonly ids: readonly string[] };

/** Postgres cannot parse any other id, which would fail the whole batch on each redelivery. */
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

/** By sequence number in the stream: JetStream redelivers messages that wait long. */
type Arrived = Map<number, DueMessage>;

/** Oldest first, until they hold IDS_PER_BATCH ids. */
const takeBatch = (arrived: Arrived): readonly DueMessage[] => {
  const batch: DueMessage[] = [];
  let ids = 0;
  for (const [seq, one] of arrived) {
    if (ids >= IDS_PER_BATCH) break;
    arrived.delete(seq);
    batch.push(one);
    ids += one.ids.length;
  }
  return batch;
};

/**
 * Asks for no more messages than there is room for: the library's own `consume` asks for one per arrival, taken or not.
 * A message is acknowledged once its deliveries are claimed; then the lease is in Postgres, and the sweep takes over if
 * the worker dies. Returns when aborted.
 */
export const consumeDue = async (
  nats: Nats,
  worker: Worker,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  const arrived: Arrived = new Map();
  const arrival = createWakeSignal();
  const taken = createWakeSignal();

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

  const claimLoop = async (): Promise<void> => {
    while (!signal.aborted) {
      if (arrived.size === 0) {
        await arrival.next({ signal });
        continue;
      }
      await worker.hasCapacity(signal);
      if (signal.aborted) return;
      const batch = takeBatch(arrived);
      taken.notify();
      await claimBatch(batch);
    }
  };
  const claimLoops = Array.from({ length: CONCURRENT_CLAIMS }, claimLoop);

  let messages: ConsumerMessages | undefined;
  const stop = (): void => {
    void messages?.close();
  };
  signal.addEventListener('abort', stop, { once: true });

  const fetchLoop = async (consumer: Consumer): Promise<void> => {
    while (!signal.aborted) {
      await worker.hasCapacity(signal);
      if (signal.aborted) return;
      if (arrived.size > FETCHED_MESSAGES / 2) {
        await taken.next({ signal });
        continue;
      }
      messages = await consumer.fetch({
        max_messages: FETCHED_MESSAGES - arrived.size,
        expires: PULL_MS,
      });
      if (signal.aborted) stop();
      for await (const message of messages) {
        arrived.set(message.seq, { message, ids: idsOf(message) });
        arrival.notify();
      }
      const reason = await messages.closed();
      if (reason) throw reason;
    }
  };
  while (!signal.aborted) {
    try {
      await ensureDeliveryConsumer(nats);
      await fetchLoop(await nats.jetstream.consumers.get(DELIVERIES_STREAM, DELIVERY_CONSUMER));
    } catch (error) {
      if (!signal.aborted)
        log.warn({ reason: (error as Error).message }, 'queue consumer failed; restarting');
    }
    await pause(RETRY_MS, signal);
  }
  await Promise.all(claimLoops);
};
