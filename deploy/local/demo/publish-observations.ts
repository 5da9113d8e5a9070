import { createHash } from 'node:crypto';
import { OBSERVATIONS_STREAM, observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation, observedAtOf } from '#contracts/observations/index.ts';
import { pause } from '#platform/clock.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** Published together, acknowledged before the next; keeps the order of a corpus over many windows. */
const WINDOW_MESSAGES = 128;
const WINDOW_MAX_BYTES = 8 * 1024 * 1024;
/**
 * Messages that may wait for ingest. The stream drops its oldest beyond its size, so a corpus larger than the
 * stream must not run ahead.
 */
const BACKLOG_MAX = 1_000;
const POLL_MS = 100;
const PUBLISH_ATTEMPTS = 5;
const PUBLISH_TIMEOUT_MS = 10_000;
/** Nobody takes anything for this long: ingest is down, and waiting on would be for ever. */
const STALLED_MS = 120_000;

export type FeedProgress = {
  /** Observations handed to the queue, from the beginning of the corpus. */
  readonly published: number;
  /** Of these, the first so many are known to be recorded. */
  readonly taken: number;
  /** When the newest one was observed. */
  readonly at: string;
};

/**
 * Publishes observations in order from number `from` on, and waits until ingest has taken every one. May be
 * broken off and called again from the last `taken`: what is published twice is recorded once.
 */
export const feedObservations = async (
  nats: Nats,
  observations: Iterable<Observation>,
  from: number,
  signal: AbortSignal,
  onProgress: (progress: FeedProgress) => Promise<void> | void,
): Promise<FeedProgress> => {
  const encoder = new TextEncoder();
  /** Ends of windows that may still wait in the queue: their last sequence, and how far into the corpus. */
  const windows: { readonly sequence: number; readonly published: number }[] = [];
  let window: Message[] = [];
  let windowBytes = 0;
  let progress: FeedProgress = { published: 0, taken: from, at: '' };

  const flush = async (): Promise<void> => {
    if (window.length === 0) return;
    const sequence = await publishWindow(nats, window, signal);
    windows.push({ sequence, published: progress.published });
    window = [];
    windowBytes = 0;
    await untilTaken(BACKLOG_MAX);
  };

  const untilTaken = async (backlogMax: number): Promise<void> => {
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
        throw new Error(`Ingest has taken nothing for ${STALLED_MS / 1_000} seconds; its log says why.`);
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
    window.push({ subject: observationSubject(keyOf(observation)), id: messageIdOf(data), data });
    windowBytes += data.length;
    if (window.length >= WINDOW_MESSAGES || windowBytes >= WINDOW_MAX_BYTES) await flush();
  }
  await flush();
  await untilTaken(0);
  return { ...progress, taken: Math.max(progress.published, from) };
};

type Message = { readonly subject: string; readonly id: string; readonly data: Uint8Array };

/**
 * Publishes a window in order: each message names the sequence it must follow, so that when one is lost those
 * after it are refused too, and none overtakes it. What is refused is published again; what was stored and only
 * not answered for comes twice, which records nothing.
 */
const publishWindow = async (
  nats: Nats,
  window: readonly Message[],
  signal: AbortSignal,
): Promise<number> => {
  let waiting = window;
  for (let attempt = 1; ; attempt += 1) {
    let reason: unknown;
    try {
      const { last_seq } = (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state;
      const outcomes = await Promise.allSettled(
        waiting.map(({ subject, id, data }, index) =>
          nats.jetstream.publish(subject, data, {
            msgID: id,
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

/** The same observation has the same id, so that JetStream drops one that comes twice in two minutes. */
const messageIdOf = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');
