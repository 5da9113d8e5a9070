import { AckPolicy, type JsMsg } from 'nats';
import {
  INGEST_CONSUMER,
  LARGE_OBSERVATION_BYTES,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import { WEEK_MS } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import { createSemaphore } from '#platform/concurrency/semaphore.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import type { BrandRegister, Intake } from '../intake-types.ts';
import { type AccessSets, accessSetsOf, DependencyOrder, unreadAccessSetsOf } from './dependency-order.ts';
import { createSlots } from './slots.ts';
import { bodyBytesOf, MessageGone, openBodies } from './message-body.ts';
import { readObservationMessage, routingOfHeaders } from './observation-message.ts';
import { processMessage } from './process-message.ts';

/** Maximum messages requested at once. They come without their bodies. */
const FETCHED_MESSAGES = 128;
/** Length of a request in ms. Half of it is the time between two signs of life of the consumer. */
const PULL_MS = 5_000;
/**
 * Maximum messages that are delivered and not acknowledged. They wait in memory for their turn, about a kilobyte each, or in
 * the queue for a newer release. NATS holds the others back: the client would request more whether or not those before are
 * processed. Small observations overtake large ones of other brands within this number: a full stream (8 GiB) holds fewer
 * observations of half a megabyte.
 */
const WAITING_MAX = 26_384;
/** Maximum messages whose bodies are read at once to find their order. */
const ORDERED_AT_ONCE = 16;
/** Time in ms after which NATS redelivers a message without acknowledgement or progress signal. */
const ACK_WAIT_MS = 60_000;
/** Signals of progress (`working`) within that time, to each message that waits or is in progress. */
const SIGNALS = 3;
/** Times that the messages are searched for those that need a signal, between two signals of one. */
const LOOKS_PER_SIGNAL = 20;
/** Delay in ms before a body is read again, or the consumer is created again, after a failure. */
const RETRY_MS = 500;
const NANOS_PER_MS = 1_000_000;
/**
 * Share of the time for which the queue keeps observations, after which one that still fails becomes a dead letter: 6 of 7 days.
 * The queue would drop it without a dead letter.
 */
const RETRY_SHARE = 6 / 7;
/** Milliseconds that count as that time when an operator lets the queue keep observations for ever. */
const KEPT_MS = WEEK_MS;
const NO_BODY = new Uint8Array();

export type ConsumerOptions = {
  readonly nats: Nats;
  readonly intake: Intake & BrandRegister;
  readonly log: Log;
  /** Throws when another process leads. Its consumer is not deleted then. Absent when one process runs. */
  readonly prove?: () => Promise<void>;
  /** Maximum observations processed at once. Dependent observations keep their order; with 1, all do. */
  readonly concurrency: number;
  /** Maximum messages that are delivered and not acknowledged; `WAITING_MAX` when absent. */
  readonly waitingMax?: number;
  /** Milliseconds without a signal after which NATS delivers a message again; `ACK_WAIT_MS` when absent. */
  readonly ackWaitMs?: number;
};

/** The consumer of the queue. Dispose of it to stop. */
export type QueueConsumer = AsyncDisposable & {
  /**
   * Resolves when NATS delivers nothing any more, because the consumer or its stream was deleted. Start another one then,
   * which receives the messages that are not acknowledged in order.
   */
  readonly ended: Promise<void>;
};

/** Messages that wait or are in progress, by their sequence. */
type Pending = Map<number, { readonly message: JsMsg; signalledAt: number }>;

const sizedOf = (message: JsMsg) => ({
  bytes: bodyBytesOf(message),
  brand: routingOfHeaders(message.headers)?.orderingKey ?? message.subject,
});

/** Returns the age in ms after which a message that still fails becomes a dead letter. */
const retryMaxAgeMsOf = async ({ manager }: Nats): Promise<number> => {
  const { config } = await manager.streams.info(OBSERVATIONS_STREAM);
  return RETRY_SHARE * (config.max_age / NANOS_PER_MS || KEPT_MS);
};

/** Sends progress signals, several within the acknowledgement timeout. Each restarts it. */
const signalProgress = (pending: Pending, ackWaitMs: number): Disposable => {
  const dueMs = ackWaitMs / SIGNALS;
  const timer = setInterval(() => {
    const now = performance.now();
    for (const entry of pending.values()) {
      if (now - entry.signalledAt < dueMs) continue;
      entry.signalledAt = now;
      entry.message.working();
    }
  }, dueMs / LOOKS_PER_SIGNAL);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

/**
 * Starts a durable JetStream consumer that processes observations concurrently, in the order of `dependency-order.ts`.
 * Dispose of the result to stop it.
 *
 * Messages are delivered without bodies. Their headers decide the order, and a body is read from the stream when its
 * turn comes. A backlog of large observations therefore takes neither memory nor time from small ones behind it.
 *
 * Only one process may consume at a time (see `single-active-consumer.ts`). Start creates missing streams, and deletes and
 * recreates the durable consumer. The stream is a work queue, so NATS then redelivers the unacknowledged messages of the previous consumer at
 * once and in order. Otherwise they would arrive after newer observations of the same brand.
 */
export const consumeObservations = async ({
  nats,
  intake,
  log,
  prove = async () => undefined,
  concurrency,
  waitingMax = WAITING_MAX,
  ackWaitMs = ACK_WAIT_MS,
}: ConsumerOptions): Promise<QueueConsumer> => {
  await ensureStreams(nats);
  const retryMaxAgeMs = await retryMaxAgeMsOf(nats);
  await prove();
  await nats.manager.consumers.delete(OBSERVATIONS_STREAM, INGEST_CONSUMER).catch(() => undefined);
  await nats.manager.consumers.add(OBSERVATIONS_STREAM, {
    durable_name: INGEST_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWaitMs * NANOS_PER_MS,
    max_ack_pending: waitingMax,
    max_deliver: -1,
    headers_only: true,
  });
  const consumer = await nats.jetstream.consumers.get(OBSERVATIONS_STREAM, INGEST_CONSUMER);
  const order = new DependencyOrder();
  const bodies = openBodies(nats, log);
  const pending: Pending = new Map();
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  const slots = createSlots(concurrency, stopping.signal);
  const reads = createSemaphore(ORDERED_AT_ONCE);
  /** Resolves when all messages so far have their place in the order. */
  let placed = Promise.resolve();
  const signals = signalProgress(pending, ackWaitMs);

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
    const work = { nats, bodies, intake, log, signal: stopping.signal, message, retryMaxAgeMs };
    const processed = order
      .run(sets, () =>
        slots
          .run(sizedOf(message), () => processMessage(work))
          .catch((error: unknown) => log.error({ err: error }, 'observation left for redelivery'))
          .finally(() => pending.delete(message.seq)),
      )
      .finally(() => inFlight.delete(processed));
    inFlight.add(processed);
  };

  const readAccessSets = async (message: JsMsg): Promise<AccessSets> => {
    await reads.acquire();
    return await accessSetsFor(message);
  };

  /** Takes a message from the queue. Access sets are read for several at once, and places are given in the order of the queue. */
  const take = (message: JsMsg): void => {
    // A message that is pending was redelivered, because its signal was late or lost.
    if (stopping.signal.aborted || pending.has(message.seq)) return;
    pending.set(message.seq, { message, signalledAt: performance.now() });
    const read = readAccessSets(message);
    const placeAfter = async (former: Promise<void>): Promise<void> => {
      const [sets] = await Promise.all([read, former]);
      reads.release();
      processInOrder(message, sets);
    };
    placed = placeAfter(placed);
  };

  // Messages are taken as they arrive: those in a buffer of the client would get no signals.
  const messages = await consumer.consume({
    max_messages: FETCHED_MESSAGES,
    expires: PULL_MS,
    abort_on_missing_resource: true,
    callback: take,
  });
  const noteEnd = async (): Promise<void> => {
    const reason = await messages.closed();
    if (stopping.signal.aborted) return;
    // Its messages come again: only those in progress are finished.
    stopping.abort();
    log.warn({ err: reason }, 'queue consumer lost; creating it again');
    await pause(RETRY_MS);
  };
  return {
    ended: noteEnd(),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await messages.close();
      await placed;
      await Promise.all(inFlight);
      signals[Symbol.dispose]();
    },
  };
};
