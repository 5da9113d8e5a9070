import { AckPolicy, type ConsumerMessages, type JsMsg } from 'nats';
import {
  INGEST_CONSUMER,
  LARGE_OBSERVATION_BYTES,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import { createSemaphore } from '#platform/concurrency/semaphore.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { BrandRegister, Intake } from '../intake-types.ts';
import { type AccessSets, accessSetsOf, DependencyOrder, unreadAccessSetsOf } from './dependency-order.ts';
import { createSlots } from './slots.ts';
import { bodyBytesOf, MessageGone, openBodies } from './message-body.ts';
import { readObservationMessage, routingOfHeaders } from './observation-message.ts';
import { processMessage } from './process-message.ts';

/** Maximum messages fetched ahead. The rest stays in the queue. They come without their bodies. */
const FETCHED_MESSAGES = 128;
/**
 * Maximum messages that wait in memory for their turn, about a kilobyte each. Small observations overtake large ones of
 * other brands within them: a full stream (8 GiB) holds fewer observations of half a megabyte.
 */
export const WAITING_IN_MEMORY_MAX = 16_384;
/**
 * Maximum messages in the queue that wait for a newer release. Beyond it the queue stops: each counts as not
 * acknowledged, and NATS limits those.
 */
const WAITING_MAX = 10_000;
/** Maximum messages whose bodies are read at once to find their order. */
const ORDERED_AT_ONCE = 16;
/** Time in ms after which NATS redelivers a message without acknowledgement or progress signal. */
const ACK_WAIT_MS = 60_000;
/** Time in ms after which a message that waits or is in progress gets a progress signal (`working`). */
const STILL_WORKING_MS = 20_000;
/** Interval in ms of the search for messages that need one. */
const SIGNAL_INTERVAL_MS = 1_000;
/** Delay in ms before the queue is read again after its connection failed. */
const RETRY_MS = 500;
const NANOS_PER_MS = 1_000_000;
const NO_BODY = new Uint8Array();

export type ConsumerOptions = {
  readonly nats: Nats;
  readonly intake: Intake & BrandRegister;
  readonly log: Log;
  /** Maximum observations processed at once. Dependent observations keep their order; with 1, all do. */
  readonly concurrency: number;
};

/** Messages that wait or are in progress, by their sequence. */
type Pending = Map<number, { readonly message: JsMsg; signalledAt: number }>;

const sizedOf = (message: JsMsg) => ({
  bytes: bodyBytesOf(message),
  brand: routingOfHeaders(message.headers)?.orderingKey ?? message.subject,
});

/** Sends progress signals, each about `STILL_WORKING_MS` after the one before. They restart the acknowledgement timeout. */
const signalProgress = (pending: Pending): Disposable => {
  const timer = setInterval(() => {
    const now = performance.now();
    for (const entry of pending.values()) {
      if (now - entry.signalledAt < STILL_WORKING_MS) continue;
      entry.signalledAt = now;
      entry.message.working();
    }
  }, SIGNAL_INTERVAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

/**
 * Starts a durable JetStream consumer that processes observations concurrently, in the order of `dependency-order.ts`.
 * Dispose of the result to stop it.
 *
 * Messages are delivered without bodies. Their headers decide the order, and a body is read from the stream when its
 * turn comes. A backlog of large observations therefore takes neither memory nor time from small ones behind it.
 *
 * Only one process may consume at a time (see `single-active-consumer.ts`). Start deletes and recreates the durable
 * consumer. The stream is a work queue, so NATS then redelivers the unacknowledged messages of the previous consumer at
 * once and in order. Otherwise they would arrive after newer observations of the same brand.
 */
export const consumeObservations = async ({
  nats,
  intake,
  log,
  concurrency,
}: ConsumerOptions): Promise<AsyncDisposable> => {
  await nats.manager.consumers.delete(OBSERVATIONS_STREAM, INGEST_CONSUMER).catch(() => undefined);
  await nats.manager.consumers.add(OBSERVATIONS_STREAM, {
    durable_name: INGEST_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
    max_ack_pending: WAITING_IN_MEMORY_MAX + WAITING_MAX,
    max_deliver: -1,
    headers_only: true,
  });
  const consumer = await nats.jetstream.consumers.get(OBSERVATIONS_STREAM, INGEST_CONSUMER);
  const order = new DependencyOrder();
  const bodies = openBodies(nats, log);
  const pending: Pending = new Map();
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  let messages: ConsumerMessages | undefined;
  const slots = createSlots(concurrency, stopping.signal);
  const places = createSemaphore(WAITING_IN_MEMORY_MAX);
  const reads = createSemaphore(ORDERED_AT_ONCE);
  /** Resolves when all messages so far have their place in the order. */
  let placed = Promise.resolve();
  const signals = signalProgress(pending);

  /** Returns one shared write set for every message when processing is sequential. This skips the brand lookup. */
  const accessSetsFor = async (message: JsMsg): Promise<AccessSets> => {
    if (concurrency === 1) return { follows: [], writes: [''] };
    const unread = unreadAccessSetsOf(message, bodyBytesOf(message) > LARGE_OBSERVATION_BYTES);
    if (unread !== null) return unread;
    const data = await bodyOf(message);
    const content = readObservationMessage({ subject: message.subject, data, headers: message.headers });
    return await accessSetsOf(content, (domain) => intake.isBrandRegistered(domain));
  };

  /** Reads a body that decides the order, so that nothing passes it: repeats while the server does not answer. */
  const bodyOf = async (message: JsMsg): Promise<Uint8Array> => {
    while (!stopping.signal.aborted) {
      try {
        const { bytes, fault } = await bodies.read(message);
        return fault === null ? bytes : NO_BODY;
      } catch (error) {
        if (error instanceof MessageGone) break;
        log.warn({ err: error, sequence: message.seq }, 'observation not readable; retrying');
        await pause(RETRY_MS, stopping.signal);
      }
    }
    return NO_BODY;
  };

  /** Gives a message its place in the order, and processes it when its turn has come. */
  const processInOrder = (message: JsMsg, sets: AccessSets): void => {
    const work = { nats, bodies, intake, log, signal: stopping.signal, message };
    const processed = order
      .run(sets, () =>
        slots
          .run(sizedOf(message), () => processMessage(work))
          .catch((error: unknown) => log.error({ err: error }, 'observation left for redelivery'))
          .finally(() => pending.delete(message.seq)),
      )
      .finally(() => {
        inFlight.delete(processed);
        places.release();
      });
    inFlight.add(processed);
  };

  /** Takes a message from the queue. Access sets are read for several at once, and places are given in the order of the queue. */
  const take = async (message: JsMsg): Promise<void> => {
    await places.acquire();
    pending.set(message.seq, { message, signalledAt: performance.now() });
    await reads.acquire();
    const read = accessSetsFor(message);
    const placeAfter = async (former: Promise<void>): Promise<void> => {
      const [sets] = await Promise.all([read, former]);
      reads.release();
      processInOrder(message, sets);
    };
    placed = placeAfter(placed);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        messages = await consumer.consume({ max_messages: FETCHED_MESSAGES });
        for await (const message of messages) {
          // Buffered messages are passed over, not left by `break`: `close` resolves only once the loop has reached the
          // end mark behind them. A message that is pending was redelivered, because its signal was late or lost.
          if (stopping.signal.aborted || pending.has(message.seq)) continue;
          await take(message);
        }
      } catch (error) {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'queue connection failed; reconnecting');
        await pause(RETRY_MS, stopping.signal);
      }
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await messages?.close();
      await running;
      await placed;
      await Promise.all(inFlight);
      signals[Symbol.dispose]();
    },
  };
};
