import { createHash } from 'node:crypto';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { OBSERVATIONS_STREAM, observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation, observedAtOf } from '#contracts/observations/index.ts';
import { pause } from '#platform/clock.ts';
import { checkInLargeBody, type ObservationPublication } from '#platform/nats/claim-check.ts';
import { headersFrom, type Nats } from '#platform/nats/connection.ts';

/** The next window waits for the acknowledgements of these, which keeps the order. */
const WINDOW_MESSAGES = 128;
const WINDOW_MAX_BYTES = 8 * 1024 * 1024;
/** A stream at its size limit refuses messages, so a larger corpus must not run ahead of ingest. */
const BACKLOG_MAX = 1_000;
const POLL_MS = 100;
const PUBLISH_ATTEMPTS = 5;
const PUBLISH_TIMEOUT_MS = 10_000;
/** Ingest counts as down after this time without progress. */
const STALLED_MS = 120_000;

export type PublishProgress = { readonly published: number; readonly taken: number; readonly at: string };

/**
 * Publishes after number `from`, in order, and waits until ingest has recorded all. Repeat from the last `taken`:
 * ingest records duplicates once.
 */
export const publishObservations = async (
  nats: Nats,
  observations: Iterable<Observation>,
  from: number,
  signal: AbortSignal,
  onProgress: (progress: PublishProgress) => Promise<void> | void,
): Promise<PublishProgress> => {
  const encoder = new TextEncoder();
  /** Windows in the queue: last sequence number, and observations published by then. */
  const windows: { readonly sequence: number; readonly published: number }[] = [];
  let window: ObservationPublication[] = [];
  let windowBytes = 0;
  let progress: PublishProgress = { published: 0, taken: from, at: '' };

  const flush = async (): Promise<void> => {
    if (window.length === 0) return;
    const sequence = await publishWindow(nats, window, signal);
    windows.push({ sequence, published: progress.published });
    window = [];
    windowBytes = 0;
    await waitUntilTaken(BACKLOG_MAX);
  };

  const waitUntilTaken = async (backlogMax: number): Promise<void> => {
    let stalledSinceMs = Date.now();
    for (let before = -1; ; ) {
      const { messages, first_seq, last_seq } = (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state;
      const firstWaiting = messages === 0 ? last_seq + 1 : first_seq;
      while (windows[0] !== undefined && windows[0].sequence < firstWaiting) {
        progress = { ...progress, taken: windows[0].published };
        windows.shift();
      }
      await onProgress(progress);
      if (messages <= backlogMax) return;
      signal.throwIfAborted();
      if (messages !== before) stalledSinceMs = Date.now();
      if (Date.now() - stalledSinceMs > STALLED_MS) {
        throw new Error(`Ingest has recorded nothing for ${STALLED_MS / 1_000} seconds. See its log.`);
      }
      before = messages;
      await pause(POLL_MS, signal);
    }
  };

  for (const observation of observations) {
    signal.throwIfAborted();
    progress = { ...progress, published: progress.published + 1, at: observedAtOf(observation) };
    if (progress.published <= from) continue;
    const data = encoder.encode(JSON.stringify(observation));
    window.push({
      subject: observationSubject(keyOf(observation)),
      msgID: messageIdOf(data),
      data,
      headers: routingHeadersOf(observation),
    });
    windowBytes += data.length;
    if (window.length >= WINDOW_MESSAGES || windowBytes >= WINDOW_MAX_BYTES) await flush();
  }
  await flush();
  await waitUntilTaken(0);
  return { ...progress, taken: Math.max(progress.published, from) };
};

/**
 * Each message names the sequence that it must follow, so when one is lost the later ones are refused and published
 * again. One stored without an acknowledgement is stored twice; ingest records it once.
 */
const publishWindow = async (
  nats: Nats,
  window: readonly ObservationPublication[],
  signal: AbortSignal,
): Promise<number> => {
  let waiting: readonly ObservationPublication[] | null = null;
  for (let attempt = 1; ; attempt += 1) {
    let reason: unknown;
    try {
      waiting ??= await Promise.all(
        window.map((one) => checkInLargeBody(nats, one, { timeout: PUBLISH_TIMEOUT_MS })),
      );
      const { last_seq } = (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state;
      const outcomes = await Promise.allSettled(
        waiting.map(({ subject, msgID, data, headers }, index) =>
          nats.jetstream.publish(subject, data, {
            ...(msgID === undefined ? {} : { msgID }),
            headers: headersFrom(headers),
            timeout: PUBLISH_TIMEOUT_MS,
            expect: { lastSequence: last_seq + index },
          }),
        ),
      );
      const refused = outcomes.findIndex(({ status }) => status === 'rejected');
      if (refused === -1) return last_seq + waiting.length;
      if (refused > 0) attempt = 1;
      waiting = waiting.slice(refused);
      const outcome = outcomes[refused];
      reason = outcome?.status === 'rejected' ? outcome.reason : undefined;
    } catch (error) {
      reason = error;
    }
    signal.throwIfAborted();
    if (attempt >= PUBLISH_ATTEMPTS) throw reason;
    await pause(POLL_MS * 2 ** attempt, signal);
  }
};

/** Derived from the content, so that JetStream drops a duplicate within two minutes. */
const messageIdOf = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');
