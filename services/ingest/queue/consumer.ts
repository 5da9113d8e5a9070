import { AckPolicy, type JsMsg } from 'nats';
import {
  INGEST_CONSUMER,
  LARGE_OBSERVATION_BYTES,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { WEEK_MS } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import { createSemaphore } from '#platform/concurrency/queues.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import type { BrandRegister, Intake } from '../intake-types.ts';
import { type AccessSets, accessSetsOf, DependencyOrder, unreadAccessSetsOf } from './dependency-order.ts';
import { createSlots } from './slots.ts';
import { bodyBytesOf, MessageGone, openBodies } from './message-body.ts';
import { readObservationMessage, routingOfHeaders } from './observation-message.ts';
import { type Prepared, prepareMessage, processMessage } from './process-message.ts';

const FETCHED_MESSAGES = 128;
/** The consumer gives a sign of life every half of this. */
const PULL_MS = 5_000;
/**
 * About a kilobyte each in memory; NATS holds the others back. Small observations overtake large ones within this
 * number, which a full stream (8 GiB) does not reach with half a megabyte each.
 */
const WAITING_MAX = 26_384;
const ORDERED_AT_ONCE = 16;
/** NATS redelivers a message without acknowledgement or progress signal after this. */
const ACK_WAIT_MS = 60_000;
const SIGNALS = 3;
/** Searches for messages that need a signal, between two signals of one. */
const LOOKS_PER_SIGNAL = 20;
const RETRY_MS = 500;
const NANOS_PER_MS = 1_000_000;
/** Share of the queue's retention after which a failing message becomes a dead letter, before the queue drops it. */
const RETRY_SHARE = 6 / 7;
/** Assumed retention when an operator lets the queue keep observations for ever. */
const KEPT_MS = WEEK_MS;
const NO_BODY = new Uint8Array();

export type ConsumerOptions = {
  readonly nats: Nats;
  readonly intake: Intake & BrandRegister;
  readonly log: Log;
  /** Throws when another process leads, whose consumer then stays. Absent when one process runs. */
  readonly prove?: () => Promise<void>;
  /** Dependent observations keep their order; with 1, all do. */
  readonly concurrency: number;
  readonly waitingMax?: number;
  /** Without a signal for this long, NATS redelivers; `ACK_WAIT_MS` when absent. */
  readonly ackWaitMs?: number;
};

export type QueueConsumer = AsyncDisposable & {
  /** Resolves when the consumer or its stream was deleted. A new one receives the unacknowledged messages in order. */
  readonly ended: Promise<void>;
};

type Pending = Map<number, { readonly message: JsMsg; signalledAt: number }>;

const sizedOf = (message: JsMsg) => ({
  bytes: bodyBytesOf(message),
  brand: routingOfHeaders(message.headers)?.orderingKey ?? message.subject,
});

/** Parts of a scan are prepared while the part before is stored. */
const isStagedOnly = (message: JsMsg): boolean =>
  routingOfHeaders(message.headers)?.type === ('ad_library.scan' satisfies Observation['type']);

const retryMaxAgeMsOf = async ({ manager }: Nats): Promise<number> => {
  const { config } = await manager.streams.info(OBSERVATIONS_STREAM);
  return RETRY_SHARE * (config.max_age / NANOS_PER_MS || KEPT_MS);
};

/** Several per acknowledgement timeout; each restarts it. */
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
 * Messages come without bodies: headers give the order (`dependency-order.ts`), and a body is read when due, so a
 * backlog of large observations costs small ones nothing. Only one process may consume (`single-active-consumer.ts`).
 * Start recreates the durable consumer of the work queue, so that NATS redelivers unacknowledged messages at once and
 * in order, not after newer ones of the same brand.
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
  /** Parts in memory that wait for the part before. Of many brands at once, most are read when they run. */
  let preparedParts = 0;

  const accessSetsFor = async (message: JsMsg): Promise<AccessSets> => {
    if (concurrency === 1) return { follows: [], writes: [''] };
    const unread = unreadAccessSetsOf(message, bodyBytesOf(message) > LARGE_OBSERVATION_BYTES);
    if (unread !== null) return unread;
    const data = await bodyOf(message);
    const content = readObservationMessage({ subject: message.subject, data, headers: message.headers });
    return await accessSetsOf(content, (domain) => intake.isBrandRegistered(domain));
  };

  /** Repeats while the server does not answer, so that nothing passes the message. */
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

  const processInOrder = (message: JsMsg, sets: AccessSets): void => {
    const work = { nats, bodies, intake, log, signal: stopping.signal, message, retryMaxAgeMs };
    const size = sizedOf(message);
    let isRunning = false;
    let prepared: Promise<Prepared | null> = Promise.resolve(null);
    let isPrepared = false;
    // A failure shows again when the message is processed.
    const prepare = (): void => {
      if (isRunning || preparedParts >= concurrency) return;
      isPrepared = true;
      preparedParts += 1;
      prepared = slots.run(size, () => prepareMessage(work)).catch(() => null);
    };
    const processed = order
      .run(
        sets,
        async () => {
          isRunning = true;
          const ready = await prepared;
          await slots
            .run(size, () => processMessage(work, ready))
            .catch((error: unknown) => log.error({ err: error }, 'observation left for redelivery'))
            .finally(() => pending.delete(message.seq));
        },
        isStagedOnly(message) ? prepare : undefined,
      )
      .finally(() => {
        if (isPrepared) preparedParts -= 1;
        inFlight.delete(processed);
      });
    inFlight.add(processed);
  };

  const readAccessSets = async (message: JsMsg): Promise<AccessSets> => {
    await reads.acquire();
    return await accessSetsFor(message);
  };

  /** Access sets are read for several messages at once, but places are given in the order of the queue. */
  const take = (message: JsMsg): void => {
    // A redelivered message is still pending: its signal was late or lost.
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

  // Messages in a buffer of the client would get no signals.
  const messages = await consumer.consume({
    max_messages: FETCHED_MESSAGES,
    expires: PULL_MS,
    abort_on_missing_resource: true,
    callback: take,
  });
  const noteEnd = async (): Promise<void> => {
    const reason = await messages.closed();
    if (stopping.signal.aborted) return;
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
