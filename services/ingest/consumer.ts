import { AckPolicy, type ConsumerMessages, headers, type JsMsg } from 'nats';
import { Refusal } from '#contracts/errors.ts';
import {
  INGEST_CONSUMER,
  OBSERVATION_DEAD_LETTER,
  OBSERVATIONS_STREAM,
} from '#contracts/messages/subjects.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import type { Log } from '#platform/log.ts';
import type { Nats } from '#platform/nats.ts';
import type { Intake } from './intake.ts';
import { ChunksMissing } from './scan-recording.ts';

/** Messages fetched ahead; the rest stays in the queue, where other processes can take it. */
const FETCHED_MESSAGES = 128;
/** Brands worked on at once; one brand's observations keep their order. */
const LANES_MAX = 6;
const ACK_WAIT_MS = 60_000;
const STILL_WORKING_MS = 20_000;
/** Deliveries after which an observation is set aside, whatever keeps it from being recorded. */
const DELIVERIES_MAX = 200;
/** Deliveries granted to the end of a scan whose chunks are still on their way. */
const CHUNK_WAITS_MAX = 20;
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

/** Takes one observation in and answers the queue: acknowledged only after its facts are recorded. */
const take = async (nats: Nats, intake: Intake, log: Log, message: JsMsg): Promise<void> => {
  const working = setInterval(() => message.working(), STILL_WORKING_MS);
  const deliveries = message.info.deliveryCount;
  try {
    if (message.data.length > OBSERVATION_MAX_BYTES) {
      throw new Refusal(
        'invalid_input',
        `The observation is over ${OBSERVATION_MAX_BYTES} bytes; send smaller chunks.`,
      );
    }
    let observation: unknown;
    try {
      observation = JSON.parse(message.string());
    } catch {
      throw new Refusal('invalid_input', 'The observation is no JSON; send one JSON object a message.');
    }
    const outcome = await intake.submit(observation);
    message.ack();
    if (outcome.totals) log.debug({ subject: message.subject, facts: outcome.facts }, 'scan recorded');
  } catch (error) {
    const final =
      error instanceof Refusal ||
      (error instanceof ChunksMissing && deliveries >= CHUNK_WAITS_MAX) ||
      deliveries >= DELIVERIES_MAX;
    if (final) {
      log.warn({ subject: message.subject, err: error }, 'observation set aside');
      await setAside(nats, message, (error as Error).message);
    } else {
      log.warn({ subject: message.subject, deliveries, err: error }, 'observation will be tried again');
      message.nak(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(deliveries, 10)));
    }
  } finally {
    clearInterval(working);
  }
};

/** A durable consumer: one lane a brand, several brands at once. Dispose of it to stop taking. */
export const consumeObservations = async (nats: Nats, intake: Intake, log: Log): Promise<AsyncDisposable> => {
  await nats.manager.consumers.add(OBSERVATIONS_STREAM, {
    durable_name: INGEST_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
    max_ack_pending: FETCHED_MESSAGES * 4,
    max_deliver: -1,
  });
  const consumer = await nats.jetstream.consumers.get(OBSERVATIONS_STREAM, INGEST_CONSUMER);
  const lanes = new Map<string, Promise<void>>();
  let stopping = false;
  let messages: ConsumerMessages | undefined;
  let free = LANES_MAX;
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

  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        messages = await consumer.consume({ max_messages: FETCHED_MESSAGES });
        for await (const message of messages) {
          const before = lanes.get(message.subject) ?? Promise.resolve();
          const lane = before
            .then(enter)
            .then(() => take(nats, intake, log, message))
            .catch((error: unknown) => log.error({ err: error }, 'observation left for redelivery'))
            .finally(() => {
              leave();
              if (lanes.get(message.subject) === lane) lanes.delete(message.subject);
            });
          lanes.set(message.subject, lane);
          if (stopping) break;
        }
      } catch (error) {
        if (!stopping) log.warn({ err: error }, 'the queue was lost; consuming again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_FIRST_MS));
      }
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping = true;
      await messages?.close();
      await running;
      await Promise.all(lanes.values());
    },
  };
};
