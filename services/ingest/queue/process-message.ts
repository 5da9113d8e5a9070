import type { JsMsg } from 'nats';
import { Refusal } from '#contracts/errors.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { observationsTaken, observedEvents, shortenedParts } from '#platform/telemetry/metrics.ts';
import { type Nats, traceparentOf } from '#platform/nats/connection.ts';
import { LeaseLost } from '#platform/postgres/lease/prove-lease.ts';
import { inSpan } from '#platform/telemetry/tracing.ts';
import type { Intake, IntakeOutcome } from '../intake-types.ts';
import { deadLetter } from './dead-letter.ts';
import { type Bodies, type Body, MessageGone } from './message-body.ts';
import { readObservationMessage } from './observation-message.ts';
import { isServerFault } from './server-fault.ts';
import { ChunksMissing } from '../ad-library/record-scan.ts';

/** Delay in ms before NATS redelivers a message that waits for a release. A new release receives it at once. */
const RELEASE_WAIT_MS = 60_000;
/** Maximum failed attempts that the observation may have caused, at most 30 s apart, before it becomes a dead letter. */
const ATTEMPTS_MAX = 2_000;
/** The same for errors that only the observation causes. More attempts would only delay later messages. */
const PERMANENT_ERROR_ATTEMPTS_MAX = 3;
/**
 * Failed attempts in a row after which an observation near the end of its time becomes a dead letter, faults of servers included.
 * More than one, because a deadlock may follow a long outage.
 */
const LAST_ATTEMPTS = 5;
const NANOS_PER_MS = 1_000_000;
/** Maximum deliveries of the end of a scan whose chunks have not all arrived. */
const CHUNK_WAITS_MAX = 20;
/** Delay in ms before NATS redelivers such an end. */
const CHUNK_WAIT_MS = 3_000;
/** First and maximum delay in ms of the exponential backoff between attempts. */
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 30_000;

/** A message whose body is still in the stream, and what processes it. */
export type Work = {
  readonly message: JsMsg;
  readonly nats: Nats;
  readonly bodies: Bodies;
  readonly intake: Intake;
  readonly log: Log;
  /** Aborted on shutdown. */
  readonly signal: AbortSignal;
  /** Age of the message in ms after which attempts that fail end. Less than the age at which the queue drops it. */
  readonly retryMaxAgeMs: number;
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

/** Failed attempts, those that the observation may have caused, and those whose error only the observation causes. */
type Failures = { readonly attempts: number; readonly all: number; readonly permanent: number };

/** Counts a failed attempt. Faults of servers count as attempts only. */
const withFailure = ({ attempts, all, permanent }: Failures, error: unknown): Failures =>
  isServerFault(error)
    ? { attempts: attempts + 1, all, permanent }
    : { attempts: attempts + 1, all: all + 1, permanent: permanent + Number(isPermanent(error)) };

/**
 * True when the message is so old that the queue will soon drop it, and the last attempts failed. A server may fail because of
 * the observation each time, and without this end the observation would hold up its brand and then be lost.
 */
const isOverdue = ({ message, retryMaxAgeMs }: Work, { attempts }: Failures): boolean =>
  attempts >= LAST_ATTEMPTS && Date.now() - message.info.timestampNanos / NANOS_PER_MS >= retryMaxAgeMs;

/** True when an error ends the attempts. One of another cause before it does not make them fewer. */
const areUsedUp = ({ all, permanent }: Failures, error: unknown): boolean =>
  !isServerFault(error) &&
  (isPermanent(error) ? permanent >= PERMANENT_ERROR_ATTEMPTS_MAX : all >= ATTEMPTS_MAX);

/** Counts and logs what was cut from an observation to bring it within its limits. */
const meterShortened = (type: string, subject: string, { shortened }: IntakeOutcome, log: Log): void => {
  if (shortened === undefined) return;
  for (const [part, count] of Object.entries(shortened)) shortenedParts.inc({ type, part }, count);
  log.info({ subject, type, ...shortened }, 'observation shortened');
};

/** Records the observation of a body, and acknowledges its message. */
const submit = async ({ message, intake, log }: Work, body: Body, attempt: number): Promise<void> => {
  const { subject, headers: sent } = message;
  const { bytes: data, fault } = body;
  if (fault !== null) throw new Refusal('invalid_input', fault);
  const observation = readObservationMessage({ subject, data, headers: sent }).observation();
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
};

/**
 * Ends the processing of a message after an error that repetitions do not help, or that needs other messages first.
 * Returns false when the attempt is to be repeated.
 */
const isEndedBy = async (work: Work, error: unknown, body: Body | undefined, failures: Failures) => {
  const { message, log } = work;
  const { subject } = message;
  const reason = (error as Error).message;
  if (error instanceof MessageGone) {
    message.term();
    log.warn({ subject, reason }, 'observation gone');
    return true;
  }
  if (error instanceof UnreadableEvent) {
    message.nak(RELEASE_WAIT_MS);
    log.error({ subject, stream: error.stream, reason }, 'observation waits for a release');
    observationsTaken.inc({ type: 'unknown', outcome: 'waits' });
    return true;
  }
  const isSpent =
    message.info.deliveryCount > maxDeliveries(error) ||
    areUsedUp(failures, error) ||
    isOverdue(work, failures);
  if (body !== undefined && isSpent) {
    log.warn({ subject, reason }, 'observation dead-lettered');
    await deadLetter(work, body.bytes, reason);
    await work.bodies.remove(body);
    observationsTaken.inc({ type: 'unknown', outcome: 'refused' });
    return true;
  }
  if (error instanceof ChunksMissing) {
    message.nak(CHUNK_WAIT_MS);
    observationsTaken.inc({ type: 'unknown', outcome: 'put_back' });
    return true;
  }
  return false;
};

/**
 * Processes one message and acknowledges it after its events are recorded. While a server is down, it retries here
 * with backoff, so that later observations of the brand stay behind this one; such attempts are not counted, so an outage
 * makes no dead letter before the queue would drop the message. The end of a scan whose chunks are missing returns to the queue instead, because the chunks are behind it. An observation on a stream with an event of
 * a newer release returns to the queue too. The newer release has a new consumer, which receives all of them in
 * order.
 */
export const processMessage = async (work: Work): Promise<void> => {
  const { message, bodies, log, signal } = work;
  let body: Body | undefined;
  let failures: Failures = { attempts: 0, all: 0, permanent: 0 };
  // On shutdown, only messages in progress are finished. The others are not acknowledged, so that the next consumer
  // receives them.
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      body ??= await bodies.read(message);
      await submit(work, body, attempt);
      await bodies.remove(body);
      return;
    } catch (error) {
      // Not acknowledged: the process that leads now receives the message too.
      if (error instanceof LeaseLost) throw error;
      failures = withFailure(failures, error);
      if (await isEndedBy(work, error, body, failures)) return;
      const { subject } = message;
      log.warn({ subject, attempt, reason: (error as Error).message }, 'observation failed; retrying');
      await pause(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(attempt, 10)), signal);
    }
  }
};
