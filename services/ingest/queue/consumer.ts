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
import { type Nats, watchReconnects } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import type { BrandRegister, Intake, Leading, Retention } from '../intake-types.ts';
import { type AccessSets, accessSetsOf, DependencyOrder, unreadAccessSetsOf } from './dependency-order.ts';
import { bodyBytesOf, MessageGone, openBodies } from './message-body.ts';
import { readObservationMessage, routingOfHeaders } from './observation-message.ts';
import { type Prepared, prepareMessage, processMessage } from './process-message.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { proveOfLate } from '../intake/prove-of-late.ts';

const LARGE_SHARE = 1 / 3;
/** After a small observation, large ones of other brands give way for this long. */
const SMALL_RECENT_MS = 1_000;
/** Time share of large observations while small ones arrive. Parsing a megabyte blocks all for tens of milliseconds. */
const LARGE_TIME_SHARE = 0.1;
/** Less than a megabyte takes: two in a row delayed small ones ten times, two apart hardly at all. */
const LARGE_BURST_MS = 20;
const LARGE_USUAL_MS = 100;
const LARGE_DEBT_MS = 3_000;
const LOOK_MS = 100;

type Sized = { readonly bytes: number; readonly brand: string };

type Slots = { run<T>(observation: Sized, work: () => Promise<T>): Promise<T> };

type Time = { readonly now: () => number; readonly pause: (ms: number) => Promise<void> };

export const largeSlotsOf = (concurrency: number): number =>
  Math.max(1, Math.floor(concurrency * LARGE_SHARE));

const createRecentSmall = (now: () => number) => {
  let last = { brand: '', at: Number.NEGATIVE_INFINITY };
  let lastOfAnother = last;
  return {
    seen: (brand: string): void => {
      if (brand !== last.brand) lastOfAnother = last;
      last = { brand, at: now() };
    },
    isRecent: (brand: string): boolean =>
      now() - (last.brand === brand ? lastOfAnother : last).at < SMALL_RECENT_MS,
  };
};

/**
 * Time budget of large observations. While small ones of other brands arrive it fills slowly, and large ones run one at
 * a time: two at once would delay a small one by both. A start takes the usual time, so that several do not share one
 * rest; the end charges the actual time. Without small ones, starts are free.
 */
const createLargeBudget = (time: Time, small: ReturnType<typeof createRecentSmall>) => {
  let left = LARGE_BURST_MS;
  let filledAt = time.now();
  let inProgress = 0;
  const fill = (rate: number): void => {
    left = Math.min(LARGE_BURST_MS, left + (time.now() - filledAt) * rate);
    filledAt = time.now();
  };
  return {
    wait: async (brand: string, isOver: () => boolean): Promise<(ms: number) => void> => {
      let isDisturbing = false;
      while (!isOver()) {
        isDisturbing = small.isRecent(brand);
        fill(isDisturbing ? LARGE_TIME_SHARE : 1);
        if (!isDisturbing || (left > 0 && inProgress === 0)) break;
        await time.pause(left > 0 ? LOOK_MS : Math.min(LOOK_MS, -left / LARGE_TIME_SHARE + 1));
      }
      inProgress += 1;
      if (isDisturbing) left -= LARGE_USUAL_MS;
      return (ms) => {
        inProgress -= 1;
        if (isDisturbing) left = Math.max(-LARGE_DEBT_MS, left + LARGE_USUAL_MS - ms);
      };
    },
  };
};

export const createSlots = (
  concurrency: number,
  signal: AbortSignal,
  time: Time = { now: () => performance.now(), pause: (ms) => pause(ms, signal) },
): Slots => {
  const all = createSemaphore(concurrency);
  const large = createSemaphore(largeSlotsOf(concurrency));
  const small = createRecentSmall(time.now);
  const budget = createLargeBudget(time, small);

  const runInSlot = async <T>(work: () => Promise<T>): Promise<T> => {
    await all.acquire();
    try {
      return await work();
    } finally {
      all.release();
    }
  };
  const runLarge = async <T>(brand: string, work: () => Promise<T>): Promise<T> => {
    await large.acquire();
    try {
      const spend = await budget.wait(brand, () => signal.aborted);
      let since = time.now();
      try {
        return await runInSlot(() => {
          since = time.now();
          return work();
        });
      } finally {
        spend(time.now() - since);
      }
    } finally {
      large.release();
    }
  };
  return {
    run: async ({ bytes, brand }, work) => {
      if (bytes > LARGE_OBSERVATION_BYTES) return await runLarge(brand, work);
      small.seen(brand);
      try {
        return await runInSlot(work);
      } finally {
        small.seen(brand);
      }
    },
  };
};

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
 * backlog of large observations costs small ones nothing. Only one process may consume (`consumeAsLeader`).
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

const ROLE = 'ingest';
/** Retention is counted in days. */
const RETENTION_INTERVAL_MS = 3_600_000;

/** Deletes at once, then at intervals until aborted, also after an error. */
const deleteAtIntervals = async (
  retention: Retention,
  intervalMs: number,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await retention.deleteExpired(signal);
    } catch (error) {
      log.warn({ err: error }, 'expired rows left until the next interval');
    }
    await pause(intervalMs, signal);
  }
};

export const consumeAsLeader = (
  options: ConsumerOptions & {
    readonly intake: Retention & Leading;
    readonly databaseUrl: string;
    readonly signal: AbortSignal;
    readonly retentionIntervalMs?: number;
  },
): Promise<void> => {
  const { databaseUrl, log, signal, nats, intake, retentionIntervalMs = RETENTION_INTERVAL_MS } = options;
  const reconnects = watchReconnects(nats.connection);
  return runAsLeader({
    databaseUrl,
    kind: ROLE,
    log,
    signal,
    run: async (leading, lease, proveLead) => {
      intake.leadWith(lease);
      await using resources = new AsyncDisposableStack();
      const stopping = new AbortController();
      const reconnectedOrEnded = reconnects.next({ signal: AbortSignal.any([leading, stopping.signal]) });
      const deleting = deleteAtIntervals(
        intake,
        retentionIntervalMs,
        log,
        AbortSignal.any([leading, stopping.signal]),
      );
      resources.defer(async () => {
        stopping.abort();
        await deleting;
      });
      const consumer = resources.use(
        await consumeObservations({ ...options, prove: () => proveOfLate(proveLead) }),
      );
      log.info({ concurrency: options.concurrency }, 'ingest consumer started');
      await Promise.race([reconnectedOrEnded, consumer.ended]);
    },
  });
};
