import { ErrorCode, headers, type JsMsg, type NatsError } from 'nats';
import { OBSERVATION_DEAD_LETTER } from '#contracts/messages/subjects.ts';
import { Refusal } from '#contracts/errors.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { observationsTaken, observedEvents, shortenedParts } from '#platform/telemetry/metrics.ts';
import { type Nats, traceparentOf } from '#platform/nats/connection.ts';
import { LeaseLost } from '#platform/postgres/lease/leases.ts';
import { inSpan } from '#platform/telemetry/tracing.ts';
import type { Intake, IntakeOutcome } from '../intake-types.ts';
import { type Bodies, type Body, MessageGone } from './message-body.ts';
import { readObservationMessage } from './observation-message.ts';
import { isServerFault } from './server-fault.ts';
import { ChunksMissing } from '../ad-library/record-scan.ts';

const RELEASE_WAIT_MS = 60_000;
/** Failed attempts that the observation may have caused, at most 30 s apart. */
const ATTEMPTS_MAX = 2_000;
/** More attempts at errors that only the observation causes would delay later messages. */
const PERMANENT_ERROR_ATTEMPTS_MAX = 3;
/** Failed attempts in a row near the end of retention. More than one, because a deadlock may follow an outage. */
const LAST_ATTEMPTS = 5;
const NANOS_PER_MS = 1_000_000;
const CHUNK_WAITS_MAX = 20;
const CHUNK_WAIT_MS = 3_000;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 30_000;

export type Work = {
  readonly message: JsMsg;
  readonly nats: Nats;
  readonly bodies: Bodies;
  readonly intake: Intake;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Failing attempts end at this age, before the queue drops the message. */
  readonly retryMaxAgeMs: number;
};

const maxDeliveries = (error: unknown): number =>
  error instanceof Refusal ? 0 : error instanceof ChunksMissing ? CHUNK_WAITS_MAX : Number.POSITIVE_INFINITY;

/** Data exceptions, constraint violations, program limits. */
const PERMANENT_SQL_STATE = /^(22|23|54)/;
const PERMANENT_ERRORS = [TypeError, RangeError, SyntaxError];

/** The observation causes these, not a server, so a retry would fail again. */
const isPermanent = (error: unknown): boolean => {
  const { code, type } = error as { readonly code?: unknown; readonly type?: unknown };
  return (
    type === 'maximum-append-size-exceeded' ||
    (typeof code === 'string' && code.length === 5 && PERMANENT_SQL_STATE.test(code)) ||
    PERMANENT_ERRORS.some((kind) => error instanceof kind)
  );
};

/** All attempts; `all`: perhaps caused by the observation; `permanent`: only by it. */
type Failures = { readonly attempts: number; readonly all: number; readonly permanent: number };

const withFailure = ({ attempts, all, permanent }: Failures, error: unknown): Failures =>
  isServerFault(error)
    ? { attempts: attempts + 1, all, permanent }
    : { attempts: attempts + 1, all: all + 1, permanent: permanent + Number(isPermanent(error)) };

/**
 * The queue will soon drop the message. One that makes a server fail each time would hold up its brand and then be
 * lost.
 */
const isOverdue = ({ message, retryMaxAgeMs }: Work, { attempts }: Failures): boolean =>
  attempts >= LAST_ATTEMPTS && Date.now() - message.info.timestampNanos / NANOS_PER_MS >= retryMaxAgeMs;

const areUsedUp = ({ all, permanent }: Failures, error: unknown): boolean =>
  !isServerFault(error) &&
  (isPermanent(error) ? permanent >= PERMANENT_ERROR_ATTEMPTS_MAX : all >= ATTEMPTS_MAX);

const meterShortened = (type: string, subject: string, { shortened }: IntakeOutcome, log: Log): void => {
  if (shortened === undefined) return;
  for (const [part, count] of Object.entries(shortened)) shortenedParts.inc({ type, part }, count);
  log.info({ subject, type, ...shortened }, 'observation shortened');
};

/** Read and validated; `record` writes. */
export type Prepared = {
  readonly body: Body;
  readonly type: string;
  readonly record: () => Promise<IntakeOutcome>;
};

/** Throws `Refusal` when the observation is invalid or unlike its headers. */
const prepareBody = ({ message, intake }: Pick<Work, 'message' | 'intake'>, body: Body): Prepared => {
  const { bytes: data, fault } = body;
  if (fault !== null) throw new Refusal('invalid_input', fault);
  const { subject, headers: sent } = message;
  const observation = readObservationMessage({ subject, data, headers: sent }).observation();
  const { type } = observation as { readonly type: string };
  const record = intake.prepare?.(observation) ?? (() => intake.submit(observation));
  return { body, type, record };
};

export const prepareMessage = async (work: Pick<Work, 'message' | 'intake' | 'bodies'>): Promise<Prepared> =>
  prepareBody(work, await work.bodies.read(work.message));

const submit = async (
  { message, log }: Work,
  { type, record }: Pick<Prepared, 'type' | 'record'>,
  attempt: number,
): Promise<void> => {
  const { subject } = message;
  const outcome = await inSpan(
    'ingest observation',
    { kind: 'consumer', parent: traceparentOf(message), attributes: { subject, attempt } },
    record,
  );
  message.ack();
  observationsTaken.inc({ type, outcome: 'taken' });
  observedEvents.inc(outcome.events);
  meterShortened(type, subject, outcome, log);
  if (outcome.totals) log.debug({ subject, events: outcome.events }, 'scan recorded');
};

const REASON_MAX = 1_000;
/** Kept of a message that is too large to be published again with more headers. */
const KEPT_BYTES = 64 * 1024;
/** JetStream: the message is larger than the stream takes. */
const LARGER_THAN_STREAM = 10_054;

const isTooLarge = (error: unknown): boolean => {
  const { code, api_error } = error as Partial<NatsError>;
  return code === ErrorCode.MaxPayloadExceeded || api_error?.err_code === LARGER_THAN_STREAM;
};

/**
 * Publishes, then removes from the queue. If headers do not fit, keeps the beginning, with the length in header
 * `truncated`.
 */
const deadLetter = async (
  { nats, message }: { readonly nats: Nats; readonly message: JsMsg },
  data: Uint8Array,
  reason: string,
): Promise<void> => {
  const header = headers();
  header.set('reason', reason.replace(/\s+/g, ' ').slice(0, REASON_MAX));
  header.set('subject', message.subject);
  header.set('sequence', String(message.seq));
  header.set('Nats-Msg-Id', `dead-${message.seq}`);
  const publish = (bytes: Uint8Array): Promise<unknown> =>
    nats.jetstream.publish(OBSERVATION_DEAD_LETTER, bytes, { headers: header });
  try {
    await publish(data);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    header.set('truncated', String(data.length));
    await publish(data.subarray(0, KEPT_BYTES));
  }
  message.term();
};

/** For errors that repetition does not help, or that need other messages first. `false`: repeat. */
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
 * Acknowledges after its events are recorded. Retries here while a server is down, uncounted, so that later
 * observations of the brand stay behind. An end without its chunks returns to the queue, because they are behind it. So
 * does an event for a newer release, whose new consumer receives all in order.
 */
export const processMessage = async (work: Work, prepared: Prepared | null = null): Promise<void> => {
  const { message, bodies, log, signal } = work;
  let body = prepared?.body;
  let failures: Failures = { attempts: 0, all: 0, permanent: 0 };
  // After shutdown begins, messages not in progress stay unacknowledged for the next consumer.
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      body ??= await bodies.read(message);
      await submit(work, attempt === 0 && prepared ? prepared : prepareBody(work, body), attempt);
      await bodies.remove(body);
      return;
    } catch (error) {
      // Not acknowledged: the new leader receives the message too.
      if (error instanceof LeaseLost) throw error;
      failures = withFailure(failures, error);
      if (await isEndedBy(work, error, body, failures)) return;
      const { subject } = message;
      log.warn({ subject, attempt, reason: (error as Error).message }, 'observation failed; retrying');
      await pause(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(attempt, 10)), signal);
    }
  }
};
