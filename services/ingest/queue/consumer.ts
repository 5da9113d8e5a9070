import { AckPolicy, type ConsumerMessages, headers, type JsMsg } from 'nats';
import { Refusal } from '#contracts/errors.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import {
  INGEST_CONSUMER,
  OBSERVATION_DEAD_LETTER,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import { createSemaphore } from '#platform/concurrency/semaphore.ts';
import type { Log } from '#platform/logger.ts';
import { observationsTaken, observedEvents, shortenedParts } from '#platform/telemetry/metrics.ts';
import { type Nats, traceparentOf } from '#platform/nats/connection.ts';
import { LeaseLost } from '#platform/postgres/lease/prove-lease.ts';
import { inSpan } from '#platform/telemetry/tracing.ts';
import type { BrandRegister, Intake, IntakeOutcome } from '../intake-types.ts';
import { type AccessSets, accessSetsOf, DependencyOrder } from './dependency-order.ts';
import { type ObservationMessage, readObservationMessage } from './observation-message.ts';
import { ChunksMissing } from '../ad-library/record-scan.ts';

/** Maximum messages fetched ahead. The rest stays in the queue. */
const FETCHED_MESSAGES = 128;
/** Maximum messages in memory. */
const IN_FLIGHT_MAX = FETCHED_MESSAGES * 4;
/**
 * Maximum messages in the queue that wait for a newer release. Beyond it the queue stops: each counts as not
 * acknowledged, and NATS limits those.
 */
const WAITING_MAX = 10_000;
/** Delay in ms before NATS redelivers a message that waits for a release. A new release receives it at once. */
const RELEASE_WAIT_MS = 60_000;
/** Time in ms after which NATS redelivers a message without acknowledgement or progress signal. */
const ACK_WAIT_MS = 60_000;
/** Interval in ms of the progress signal (`working`), which restarts the acknowledgement timeout. */
const STILL_WORKING_MS = 20_000;
/** Maximum attempts, at most 30 s apart, before an observation becomes a dead letter for any cause. */
const ATTEMPTS_MAX = 2_000;
/** Maximum attempts on an error that the observation itself causes. More attempts would only delay later messages. */
const PERMANENT_ERROR_ATTEMPTS_MAX = 3;
/** Maximum deliveries of the end of a scan whose chunks have not all arrived. */
const CHUNK_WAITS_MAX = 20;
/** Delay in ms before NATS redelivers such an end. */
const CHUNK_WAIT_MS = 3_000;
/** First and maximum delay in ms of the exponential backoff between attempts. */
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 30_000;
const NANOS_PER_MS = 1_000_000;

/** Publishes the message as a dead letter with the reason in its header, then removes it from the queue. */
const deadLetter = async (nats: Nats, message: JsMsg, reason: string): Promise<void> => {
  const header = headers();
  header.set('reason', reason.replace(/\s+/g, ' ').slice(0, 1_000));
  header.set('subject', message.subject);
  header.set('sequence', String(message.seq));
  header.set('Nats-Msg-Id', `dead-${message.seq}`);
  await nats.jetstream.publish(OBSERVATION_DEAD_LETTER, message.data, { headers: header });
  message.term();
};

const maxDeliveries = (error: unknown): number =>
  error instanceof Refusal ? 0 : error instanceof ChunksMissing ? CHUNK_WAITS_MAX : Number.POSITIVE_INFINITY;

/** Classes of SQL states that a retry cannot fix: data exceptions, constraint violations, program limits. */
const PERMANENT_SQL_STATE = /^(22|23|54)/;
const PERMANENT_ERRORS = [TypeError, RangeError, SyntaxError];

/** Returns true for errors that the observation causes, not a server. A retry would fail in the same way. */
const isPermanent = (error: unknown): boolean => {
  const { code, type } = error as { readonly code?: unknown; readonly type?: unknown };
  return (
    type === 'maximum-append-size-exceeded' ||
    (typeof code === 'string' && code.length === 5 && PERMANENT_SQL_STATE.test(code)) ||
    PERMANENT_ERRORS.some((kind) => error instanceof kind)
  );
};

const maxAttempts = (error: unknown): number =>
  isPermanent(error) ? PERMANENT_ERROR_ATTEMPTS_MAX : ATTEMPTS_MAX;

/** Counts and logs what was cut from an observation to bring it within its limits. */
const meterShortened = (type: string, subject: string, { shortened }: IntakeOutcome, log: Log): void => {
  if (shortened === undefined) return;
  for (const [part, count] of Object.entries(shortened)) shortenedParts.inc({ type, part }, count);
  log.info({ subject, type, ...shortened }, 'observation shortened');
};

/**
 * Processes one message and acknowledges it after its events are recorded. While a server is down, it retries here
 * with backoff, so that later observations of the brand stay behind this one. The end of a scan whose chunks are
 * missing returns to the queue instead, because the chunks are behind it. An observation on a stream with an event of
 * a newer release returns to the queue too. The newer release has a new consumer, which receives all of them in
 * order.
 */
const processMessage = async (
  nats: Nats,
  intake: Intake,
  log: Log,
  signal: AbortSignal,
  message: JsMsg,
  content: ObservationMessage,
): Promise<void> => {
  // On shutdown, only messages in progress are finished. The others are not acknowledged, so that the next consumer
  // receives them.
  if (signal.aborted) return;
  const working = setInterval(() => message.working(), STILL_WORKING_MS);
  const { subject } = message;
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const observation = content.observation();
        const outcome = await inSpan(
          'ingest observation',
          { kind: 'consumer', parent: traceparentOf(message), attributes: { subject, attempt } },
          () => intake.submit(observation),
        );
        message.ack();
        // The observation was accepted, so its type is valid and safe as a metric label.
        const { type } = observation as { readonly type: string };
        observationsTaken.inc({ type, outcome: 'taken' });
        observedEvents.inc(outcome.events);
        meterShortened(type, subject, outcome, log);
        if (outcome.totals) log.debug({ subject, events: outcome.events }, 'scan recorded');
        return;
      } catch (error) {
        // Not acknowledged: the process that leads now receives the message too.
        if (error instanceof LeaseLost) throw error;
        const reason = (error as Error).message;
        if (error instanceof UnreadableEvent) {
          message.nak(RELEASE_WAIT_MS);
          log.error({ subject, stream: error.stream, reason }, 'observation waits for a release');
          observationsTaken.inc({ type: 'unknown', outcome: 'waits' });
          return;
        }
        if (message.info.deliveryCount > maxDeliveries(error) || attempt + 1 >= maxAttempts(error)) {
          log.warn({ subject, reason }, 'observation dead-lettered');
          await deadLetter(nats, message, reason);
          observationsTaken.inc({ type: 'unknown', outcome: 'refused' });
          return;
        }
        if (error instanceof ChunksMissing) {
          message.nak(CHUNK_WAIT_MS);
          observationsTaken.inc({ type: 'unknown', outcome: 'put_back' });
          return;
        }
        log.warn({ subject, attempt, reason }, 'observation failed; retrying');
        await pause(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(attempt, 10)), signal);
        if (signal.aborted) return;
      }
    }
  } finally {
    clearInterval(working);
  }
};

export type ConsumerOptions = {
  readonly nats: Nats;
  readonly intake: Intake & BrandRegister;
  readonly log: Log;
  /** Maximum observations processed at once. Dependent observations keep their order; with 1, all do. */
  readonly concurrency: number;
};

/**
 * Starts a durable JetStream consumer that processes observations concurrently, in the order of `dependency-order.ts`.
 * Dispose of the result to stop it.
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
    max_ack_pending: IN_FLIGHT_MAX + WAITING_MAX,
    max_deliver: -1,
  });
  const consumer = await nats.jetstream.consumers.get(OBSERVATIONS_STREAM, INGEST_CONSUMER);
  const order = new DependencyOrder();
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  let messages: ConsumerMessages | undefined;
  const slots = createSemaphore(concurrency);

  /** Returns one shared write set for every message when processing is sequential. This skips the brand lookup. */
  const accessSetsFor = async (content: ObservationMessage): Promise<AccessSets> =>
    concurrency === 1
      ? { reads: [], writes: [''] }
      : await accessSetsOf(content, (domain) => intake.isBrandRegistered(domain));

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        messages = await consumer.consume({ max_messages: FETCHED_MESSAGES });
        for await (const message of messages) {
          // Buffered messages are passed over, not left by `break`: `close` resolves only once the loop has reached the
          // end mark behind them.
          if (stopping.signal.aborted) continue;
          const content = readObservationMessage(message);
          const processed = order.run(await accessSetsFor(content), () =>
            slots
              .acquire()
              .then(() => processMessage(nats, intake, log, stopping.signal, message, content))
              .catch((error: unknown) => log.error({ err: error }, 'observation left for redelivery'))
              .finally(slots.release),
          );
          inFlight.add(processed);
          void processed.finally(() => inFlight.delete(processed));
          if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
        }
      } catch (error) {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'queue connection failed; reconnecting');
        await pause(RETRY_FIRST_MS, stopping.signal);
      }
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await messages?.close();
      await running;
      await Promise.all(inFlight);
    },
  };
};
