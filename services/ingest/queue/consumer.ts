import { AckPolicy, type ConsumerMessages, headers, type JsMsg } from 'nats';
import { Refusal } from '#contracts/errors.ts';
import {
  INGEST_CONSUMER,
  OBSERVATION_DEAD_LETTER,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { observationsTaken, observedEvents } from '#platform/telemetry/metrics.ts';
import { type Nats, traceparentOf } from '#platform/nats/connection.ts';
import { inSpan } from '#platform/telemetry/tracing.ts';
import type { BrandRegister, Intake } from '../intake-types.ts';
import { QueueOrder, type Touched, touchedBy } from './dependency-order.ts';
import { ChunksMissing } from '../ad-library/record-scan.ts';

/** Messages fetched ahead; the rest stays in the queue, where other processes can take it. */
const FETCHED_MESSAGES = 128;
const ACK_WAIT_MS = 60_000;
const STILL_WORKING_MS = 20_000;
/** Tries in place, at most 30 s apart, before an observation is set aside whatever keeps it from being recorded. */
const ATTEMPTS_MAX = 2_000;
/** Tries of an observation that a server refuses for what it says: more would only hold up what is behind it. */
const LASTING_FAULT_ATTEMPTS_MAX = 3;
/** Deliveries granted to the end of a scan whose chunks are still on their way. */
const CHUNK_WAITS_MAX = 20;
const CHUNK_WAIT_MS = 3_000;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 30_000;
const NANOS_PER_MS = 1_000_000;

const setAside = async (nats: Nats, message: JsMsg, reason: string): Promise<void> => {
  const header = headers();
  header.set('reason', reason.replace(/\s+/g, ' ').slice(0, 1_000));
  header.set('subject', message.subject);
  header.set('sequence', String(message.seq));
  header.set('Nats-Msg-Id', `dead-${message.seq}`);
  await nats.jetstream.publish(OBSERVATION_DEAD_LETTER, message.data, { headers: header });
  message.term();
};

const mostDeliveriesOf = (error: unknown): number =>
  error instanceof Refusal ? 0 : error instanceof ChunksMissing ? CHUNK_WAITS_MAX : Number.POSITIVE_INFINITY;

/** SQL states of values, sums and sizes that no table holds: data exceptions, broken constraints, limits. */
const LASTING_SQL_STATE = /^(22|23|54)/;
const LASTING_ERRORS = [TypeError, RangeError, SyntaxError];

/** Faults that lie in what is recorded and not in a server: the next try ends as this one did. */
const isLasting = (error: unknown): boolean => {
  const { code, type } = error as { readonly code?: unknown; readonly type?: unknown };
  return (
    type === 'maximum-append-size-exceeded' ||
    (typeof code === 'string' && code.length === 5 && LASTING_SQL_STATE.test(code)) ||
    LASTING_ERRORS.some((kind) => error instanceof kind)
  );
};

const attemptsOf = (error: unknown): number => (isLasting(error) ? LASTING_FAULT_ATTEMPTS_MAX : ATTEMPTS_MAX);

const parse = (message: JsMsg): unknown => {
  if (message.data.length > OBSERVATION_MAX_BYTES) {
    throw new Refusal(
      'invalid_input',
      `The observation is over ${OBSERVATION_MAX_BYTES} bytes; send smaller chunks.`,
    );
  }
  try {
    return JSON.parse(message.string());
  } catch {
    throw new Refusal('invalid_input', 'The observation is no JSON; send one JSON object a message.');
  }
};

/**
 * Takes one observation in and answers the queue: acknowledged only after its events are recorded. A server
 * that is down is waited for right here, so that later observations of the brand stay behind this one; the
 * end of a scan whose chunks are still on their way goes back to the queue, since they are behind it.
 */
const take = async (
  nats: Nats,
  intake: Intake,
  log: Log,
  signal: AbortSignal,
  message: JsMsg,
): Promise<void> => {
  // Asked to end, it finishes what it has begun; the rest is not acknowledged, and comes again to whoever is next.
  if (signal.aborted) return;
  const working = setInterval(() => message.working(), STILL_WORKING_MS);
  const { subject } = message;
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const observation = parse(message);
        const outcome = await inSpan(
          'ingest observation',
          { kind: 'consumer', parent: traceparentOf(message), attributes: { subject, attempt } },
          () => intake.submit(observation),
        );
        message.ack();
        // Taken in, so its type is one of ours.
        observationsTaken.inc({ type: (observation as { readonly type: string }).type, outcome: 'taken' });
        observedEvents.inc(outcome.events);
        if (outcome.totals) log.debug({ subject, events: outcome.events }, 'scan recorded');
        return;
      } catch (error) {
        const reason = (error as Error).message;
        if (message.info.deliveryCount > mostDeliveriesOf(error) || attempt + 1 >= attemptsOf(error)) {
          log.warn({ subject, reason }, 'observation set aside');
          await setAside(nats, message, reason);
          observationsTaken.inc({ type: 'unknown', outcome: 'refused' });
          return;
        }
        if (error instanceof ChunksMissing) {
          message.nak(CHUNK_WAIT_MS);
          observationsTaken.inc({ type: 'unknown', outcome: 'put_back' });
          return;
        }
        log.warn({ subject, attempt, reason }, 'observation will be tried again');
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
  /** Observations worked on at once; those that depend on each other keep their order, with 1 all do. */
  readonly lanes: number;
};

/**
 * A durable consumer: several brands at once, in the order of `queue-order.ts`. Dispose of it to stop taking.
 *
 * Only one process may consume at a time (see `main.ts`). It makes the consumer anew: the stream is a work
 * queue, so whatever a predecessor took and did not acknowledge comes again at once and in order, and not
 * after newer observations of the same brand.
 */
export const consumeObservations = async ({
  nats,
  intake,
  log,
  lanes: lanesMax,
}: ConsumerOptions): Promise<AsyncDisposable> => {
  await nats.manager.consumers.delete(OBSERVATIONS_STREAM, INGEST_CONSUMER).catch(() => undefined);
  await nats.manager.consumers.add(OBSERVATIONS_STREAM, {
    durable_name: INGEST_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
    max_ack_pending: FETCHED_MESSAGES * 4,
    max_deliver: -1,
  });
  const consumer = await nats.jetstream.consumers.get(OBSERVATIONS_STREAM, INGEST_CONSUMER);
  const order = new QueueOrder();
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  let messages: ConsumerMessages | undefined;
  let free = lanesMax;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };

  /** Nothing shared, where one after the other is taken anyhow. */
  const touchedOf = async ({ subject, data }: JsMsg): Promise<Touched> =>
    lanesMax === 1
      ? { reads: [], changes: [''] }
      : await touchedBy(subject, data, (domain) => intake.knowsBrand(domain));

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        messages = await consumer.consume({ max_messages: FETCHED_MESSAGES });
        for await (const message of messages) {
          const taken = order.run(await touchedOf(message), () =>
            enter()
              .then(() => take(nats, intake, log, stopping.signal, message))
              .catch((error: unknown) => log.error({ err: error }, 'observation left for redelivery'))
              .finally(leave),
          );
          underWay.add(taken);
          void taken.finally(() => underWay.delete(taken));
          if (stopping.signal.aborted) break;
        }
      } catch (error) {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'the queue was lost; consuming again');
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
      await Promise.all(underWay);
    },
  };
};
