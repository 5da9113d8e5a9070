import type { ConsumerMessages, JsMsg } from 'nats';
import { DELIVERIES_STREAM, DELIVERY_CONSUMER, type DeliveryDue } from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/log.ts';
import type { Nats } from '#platform/nats.ts';
import { ensureDeliveryConsumer } from './delivery-consumer.ts';
import type { Worker } from './worker.ts';

/** Messages fetched ahead, and those taken together. */
const FETCHED_MESSAGES = 2_000;
const TAKEN_TOGETHER_MAX = 500;
/** Batches being claimed at once: one is read from Postgres while another is handed out. */
const TAKES_AT_ONCE = 2;
/** A pull lasts so long; a server that came back without the stream is noticed within it. */
const PULL_MS = 4_000;
const RETRY_MS = 500;

const idOf = (message: JsMsg): string | null => {
  try {
    const { delivery_id } = message.json<Partial<DeliveryDue>>();
    return typeof delivery_id === 'string' && /^[0-9a-f-]{36}$/.test(delivery_id) ? delivery_id : null;
  } catch {
    return null;
  }
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
  const arrived: JsMsg[] = [];
  let wake: (() => void) | undefined;

  const take = async (messages: readonly JsMsg[]): Promise<void> => {
    const ids = messages.map(idOf);
    try {
      await worker.take(ids.filter((id) => id !== null));
      for (const message of messages) message.ack();
    } catch (error) {
      // Not acknowledged: the queue brings them again, and so does the sweep.
      log.warn({ err: error, messages: messages.length }, 'deliveries could not be claimed');
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
      await Promise.race([worker.hasRoom(), aborted]);
      if (signal.aborted) return;
      await take(arrived.splice(0, TAKEN_TOGETHER_MAX));
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
          arrived.push(message);
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
