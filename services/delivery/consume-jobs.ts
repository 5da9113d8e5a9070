import type { ConsumerMessages, JsMsg } from 'nats';
import { DELIVERIES_STREAM, DELIVERY_CONSUMER, type DeliveriesDue } from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureDeliveryConsumer } from './jetstream-consumer.ts';
import type { Worker } from './worker.ts';

/** Messages fetched ahead, each of one delivery or of some dozens; and from how many on no more are taken together. */
const FETCHED_MESSAGES = 100;
const TAKEN_TOGETHER = 500;
/** Batches being claimed at once: one is read from Postgres while another is handed out. */
const TAKES_AT_ONCE = 2;
/** A pull lasts so long; a server that came back without the stream is noticed within it. */
const PULL_MS = 4_000;
const RETRY_MS = 500;

/** Deliveries that messages said are due. */
type Arrived = { readonly message: JsMsg; readonly ids: readonly string[] };

/** What Postgres reads as one: anything else in a message would fail those that came with it, each time anew. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const idsOf = (message: JsMsg): readonly string[] => {
  try {
    const { delivery_ids } = message.json<Partial<DeliveriesDue>>();
    const given: readonly unknown[] = Array.isArray(delivery_ids) ? delivery_ids : [];
    return given.filter((id): id is string => typeof id === 'string' && UUID.test(id));
  } catch {
    return [];
  }
};

/** The first of what arrived, so many messages that it is enough of deliveries. */
const shiftSome = (arrived: Arrived[]): readonly Arrived[] => {
  let ids = 0;
  const enough = arrived.findIndex((one) => (ids += one.ids.length) >= TAKEN_TOGETHER);
  return arrived.splice(0, enough < 0 ? arrived.length : enough + 1);
};

/**
 * Hands what the queue says is due to the worker. A message is acknowledged once its delivery is claimed: from there
 * on Postgres knows whose it is, and the sweep finds it should that worker die. Returns when aborted.
 */
export const consumeDue = async (
  nats: Nats,
  worker: Worker,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  const arrived: Arrived[] = [];
  let wake: (() => void) | undefined;

  const take = async (some: readonly Arrived[]): Promise<void> => {
    try {
      await worker.take(some.flatMap(({ ids }) => ids));
      for (const { message } of some) message.ack();
    } catch (error) {
      // Not acknowledged: the queue brings them again, and so does the sweep.
      log.warn({ err: error, messages: some.length }, 'deliveries could not be claimed');
      await pause(RETRY_MS, signal);
    }
  };

  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const handOut = async (): Promise<void> => {
    while (!signal.aborted) {
      if (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          const before = wake;
          wake = () => {
            before?.();
            resolve();
          };
        });
        continue;
      }
      await Promise.race([worker.hasCapacity(), aborted]);
      if (signal.aborted) return;
      await take(shiftSome(arrived));
    }
  };
  const handingOut = Array.from({ length: TAKES_AT_ONCE }, handOut);
  const wakeAll = (): void => {
    const waking = wake;
    wake = undefined;
    waking?.();
  };

  let messages: ConsumerMessages | undefined;
  const stop = (): void => {
    wakeAll();
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
          wakeAll();
        },
      });
      if (signal.aborted) stop();
      const reason = await messages.closed();
      if (reason) throw reason;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ reason: (error as Error).message }, 'the queue was lost; consuming again');
    }
    await pause(RETRY_MS, signal);
  }
  await Promise.all(handingOut);
};
