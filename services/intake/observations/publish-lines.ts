import { hash } from 'node:crypto';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import type { Log } from '#platform/logger.ts';
import { headersFrom, type Nats } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import { currentTraceparent } from '#platform/telemetry/tracing.ts';
import { IntakeRefusal } from '../server/intake-refusal.ts';

/** Messages published at once. A failure stops the request after the window, so little is published in another order. */
const WINDOW_MESSAGES = 64;
const WINDOW_MAX_BYTES = 4 * 1024 * 1024;
const PUBLISH_TIMEOUT_MS = 5_000;
/** Seconds until a collector tries again: while NATS is away, and while the queue is full. */
const RETRY_SECONDS = 5;
const RETRY_FULL_SECONDS = 60;
/**
 * Maximum characters of a key in a subject. NATS closes the connection when a subject is longer than a few thousand
 * bytes; keys that are equal up to here only share an order.
 */
const SUBJECT_KEY_MAX_CHARACTERS = 256;
/** Error code of JetStream: the stream has reached its limit and rejects new messages. */
const STREAM_FULL = 10_077;

export type QueuedLine = {
  readonly bytes: Buffer;
  readonly input: unknown;
  readonly observation: Observation;
};

const windowsOf = (lines: readonly QueuedLine[]): readonly (readonly QueuedLine[])[] => {
  const windows: QueuedLine[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    if (bytes + line.bytes.length > WINDOW_MAX_BYTES || (windows.at(-1)?.length ?? 0) >= WINDOW_MESSAGES) {
      windows.push([]);
      bytes = 0;
    }
    windows.at(-1)?.push(line);
    bytes += line.bytes.length;
  }
  return windows;
};

const publish = ({ jetstream }: Nats, { bytes, input, observation }: QueuedLine): Promise<unknown> => {
  const traceparent = currentTraceparent();
  return jetstream.publish(
    observationSubject(keyOf(observation).slice(0, SUBJECT_KEY_MAX_CHARACTERS)),
    bytes,
    {
      // Derived from the content, so that JetStream drops a line that is sent again within two minutes.
      msgID: hash('sha256', bytes, 'hex'),
      headers: headersFrom({
        ...routingHeadersOf(input),
        ...(traceparent === undefined ? {} : { traceparent }),
      }),
      timeout: PUBLISH_TIMEOUT_MS,
    },
  );
};

const isFull = (error: unknown): boolean =>
  (error as { api_error?: { err_code?: number } }).api_error?.err_code === STREAM_FULL;

/**
 * Publishes the lines in their order and returns after the stream has stored all of them. Throws `unavailable` when one
 * was not stored. Some may be stored then; sending all lines again records none of them twice.
 */
export const publishLines = async (nats: Nats, lines: readonly QueuedLine[], log: Log): Promise<void> => {
  for (const window of windowsOf(lines)) {
    const outcomes = await Promise.allSettled(window.map((line) => publish(nats, line)));
    const failed = outcomes.find(({ status }) => status === 'rejected');
    if (failed?.status !== 'rejected') continue;
    log.warn({ err: failed.reason }, 'observations not queued');
    const full = isFull(failed.reason);
    // A server that restarted without its storage has no stream until one is created.
    if (!full) ensureStreams(nats).catch(() => undefined);
    throw new IntakeRefusal(
      'unavailable',
      `${full ? 'The queue is full.' : 'The queue does not answer.'} Send the whole request again later; no line is recorded twice.`,
      { retryAfterSeconds: full ? RETRY_FULL_SECONDS : RETRY_SECONDS },
    );
  }
};
