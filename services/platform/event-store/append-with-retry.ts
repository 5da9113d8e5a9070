import type { Event } from '#contracts/events/event.ts';
import { EventStoreSilent, isDiscoveryFailure } from './renewable-client.ts';
import { retry, type RetryLimits } from '../concurrency/retry.ts';

/** Milliseconds to wait for one answer to an append of background work. The client enforces its deadline on the server only. */
const APPEND_TIMEOUT_MS = 10_000;
/** Retries after a lost connection or a timeout. The same event ids make a repeated append idempotent. */
const CONNECTION_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 50, maxDelayMs: 3_000 };
/** The same within the time of a request. */
const REQUEST_RETRIES: RetryLimits = { attempts: 50, firstDelayMs: 50, maxDelayMs: 250 };
/** Maximum bytes of one append. The server's limit is 1 MiB; the rest is for framing and metadata. */
const APPEND_MAX_BYTES = 900_000;
/** Estimated bytes of an event's metadata, id, type and framing. */
const EVENT_OVERHEAD_BYTES = 600;
/** Maximum events of one append. */
const APPEND_MAX_EVENTS = 1_000;

/** Failures in a row after which appends with a limit are refused at once for a time. */
const FAILURES_MAX = 5;
/** Milliseconds of the first such time; each further failure adds as much, up to the longest. */
const REFUSED_FIRST_MS = 1_000;
const REFUSED_MAX_MS = 5_000;

/**
 * True for faults after which the same append may be sent again; its event ids make that safe. The first append to
 * a server that is down rejects with a bare gRPC error (code 14) and no type.
 */
const isConnectionFault = (error: unknown): boolean => {
  if (error instanceof EventStoreSilent || isDiscoveryFailure(error)) return true;
  if (!(error instanceof Error)) return false;
  const { type, code } = error as { type?: string; code?: number };
  return (
    type === 'unavailable' ||
    type === 'timeout' ||
    type === 'deadline-exceeded' ||
    type === 'cancelled' ||
    type === 'not-leader' ||
    (type === 'unknown' && code !== 3) ||
    code === 14 ||
    code === 4 ||
    code === 1
  );
};

/** Returns the answer. Throws `EventStoreSilent` when there is none in time. */
export const withTimeout = async <T>(promise: Promise<T>, milliseconds: number): Promise<T> => {
  const answered = Promise.withResolvers<never>();
  // A busy process may not have read yet what has arrived: timers run before sockets are read.
  const timer = setTimeout(
    () => setImmediate(() => answered.reject(new EventStoreSilent(milliseconds))),
    milliseconds,
  );
  try {
    return await Promise.race([promise, answered.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Sends an append, and sends it again after a connection fault. Throws the last error. */
export type SendAppend = <T>(append: () => Promise<T>) => Promise<T>;

/**
 * Creates the sender of a process. `withinMs`: milliseconds in which an append must be answered, retries included; after
 * several failures in a row appends are then refused at once for a while. `null`: for background work, which waits.
 */
export const createSendAppend = (withinMs: number | null): SendAppend => {
  if (withinMs === null) {
    return (append) =>
      retry(CONNECTION_RETRIES, isConnectionFault, () => withTimeout(append(), APPEND_TIMEOUT_MS));
  }
  let failures = 0;
  let refusedUntilMs = 0;
  return async (append) => {
    const deadline = performance.now() + withinMs;
    if (performance.now() < refusedUntilMs) throw new EventStoreSilent(withinMs);
    const leftMs = (): number => deadline - performance.now();
    try {
      const answer = await retry(
        REQUEST_RETRIES,
        (error) => isConnectionFault(error) && leftMs() > 0,
        () => withTimeout(append(), Math.max(1, leftMs())),
      );
      failures = 0;
      return answer;
    } catch (error) {
      if (!isConnectionFault(error)) throw error;
      failures += 1;
      const forMs = Math.min(REFUSED_MAX_MS, REFUSED_FIRST_MS * (failures - FAILURES_MAX + 1));
      if (failures >= FAILURES_MAX) refusedUntilMs = performance.now() + forMs;
      throw error;
    }
  };
};

/**
 * Cuts events into slices that fit one append; `from` is the index of a slice's first event. A single event is
 * always one slice, and is not measured: if it is too large, the server refuses it with a clear error.
 */
export const slicesOf = <F extends Event>(
  events: readonly F[],
): readonly { readonly from: number; readonly events: readonly F[] }[] => {
  if (events.length === 1) return [{ from: 0, events }];
  const slices: { from: number; events: F[] }[] = [];
  let slice: F[] = [];
  let bytes = 0;
  let from = 0;
  events.forEach((event, index) => {
    const size = Buffer.byteLength(JSON.stringify(event.data)) + EVENT_OVERHEAD_BYTES;
    if (slice.length > 0 && (bytes + size > APPEND_MAX_BYTES || slice.length >= APPEND_MAX_EVENTS)) {
      slices.push({ from, events: slice });
      slice = [];
      bytes = 0;
      from = index;
    }
    slice.push(event);
    bytes += size;
  });
  if (slice.length > 0) slices.push({ from, events: slice });
  return slices;
};
