import { hash } from 'node:crypto';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import { requireTime, timeLeft } from '#platform/concurrency/time-budget.ts';
import type { Log } from '#platform/logger.ts';
import { checkInLargeBody, type ObservationPublication } from '#platform/nats/claim-check.ts';
import { headersFrom, type Nats } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import { currentTraceparent } from '#platform/telemetry/tracing.ts';
import { IntakeRefusal } from '../server/intake-refusal.ts';

/** Maximum concurrent messages. A failure stops after this window, so few messages are out of order. */
const WINDOW_MESSAGES = 64;
const WINDOW_MAX_BYTES = 4 * 1024 * 1024;
const PUBLISH_TIMEOUT_MS = 5_000;
/** Retry delay of a collector while NATS is down or the queue is full. */
const RETRY_SECONDS = 5;
const RETRY_FULL_SECONDS = 60;
/** Maximum length of a key in a subject: NATS closes the connection on subjects of thousands of bytes. */
const SUBJECT_KEY_MAX_CHARACTERS = 256;
/** Error code of JetStream for a stream at its limit. */
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

/** Stores a large body; the message then refers to it. */
const publicationOf = (
  nats: Nats,
  { bytes, input, observation }: QueuedLine,
): Promise<ObservationPublication> => {
  const traceparent = currentTraceparent();
  const publication = {
    subject: observationSubject(keyOf(observation).slice(0, SUBJECT_KEY_MAX_CHARACTERS)),
    data: bytes,
    // A content hash, so that JetStream drops a line that is sent again within ten minutes.
    msgID: hash('sha256', bytes, 'hex'),
    headers: { ...routingHeadersOf(input), ...(traceparent === undefined ? {} : { traceparent }) },
  };
  return checkInLargeBody(nats, publication, { timeout: timeLeft(PUBLISH_TIMEOUT_MS) });
};

const publishWindow = async (nats: Nats, window: readonly QueuedLine[]): Promise<void> => {
  const publications = await Promise.all(window.map((line) => publicationOf(nats, line)));
  const outcomes = await Promise.allSettled(
    publications.map(({ subject, data, headers, msgID }) =>
      nats.jetstream.publish(subject, data, {
        ...(msgID === undefined ? {} : { msgID }),
        headers: headersFrom(headers),
        timeout: timeLeft(PUBLISH_TIMEOUT_MS),
      }),
    ),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};

const isFull = (error: unknown): boolean =>
  (error as { api_error?: { err_code?: number } }).api_error?.err_code === STREAM_FULL;

/** Returns once the stream has stored all lines. Throws `unavailable` otherwise; sending them again is harmless. */
export const publishLines = async (nats: Nats, lines: readonly QueuedLine[], log: Log): Promise<void> => {
  for (const window of windowsOf(lines)) {
    requireTime();
    try {
      await publishWindow(nats, window);
    } catch (error) {
      log.warn({ err: error }, 'observations not queued');
      const full = isFull(error);
      // A server that restarted without its storage has no stream.
      if (!full) ensureStreams(nats).catch(() => undefined);
      throw new IntakeRefusal(
        'unavailable',
        `${full ? 'The queue is full.' : 'The queue does not answer.'} Send the whole request again later; no line is recorded twice.`,
        { retryAfterSeconds: full ? RETRY_FULL_SECONDS : RETRY_SECONDS },
      );
    }
  }
};
