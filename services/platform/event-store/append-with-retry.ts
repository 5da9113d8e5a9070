import type { Event } from '#contracts/events/event.ts';
import { retry, type RetryLimits } from '../concurrency/retry.ts';

/** Milliseconds to wait for the answer to an append. The client enforces its deadline on the server only. */
const APPEND_TIMEOUT_MS = 10_000;
/** Retries after a lost connection or a timeout. The same event ids make a repeated append idempotent. */
const CONNECTION_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 50, maxDelayMs: 3_000 };
/** Maximum bytes of one append. The server's limit is 1 MiB; the rest is for framing and metadata. */
const APPEND_MAX_BYTES = 900_000;
/** Estimated bytes of an event's metadata, id, type and framing. */
const EVENT_OVERHEAD_BYTES = 600;
/** Maximum events of one append. */
const APPEND_MAX_EVENTS = 1_000;

class AppendTimeout extends Error {
  constructor() {
    super(`no answer to an append within ${APPEND_TIMEOUT_MS} ms`);
    this.name = 'AppendTimeout';
  }
}

/**
 * True for faults after which the same append may be sent again; its event ids make that safe. The first append to
 * a server that is down rejects with a bare gRPC error (code 14) and no type.
 */
const isConnectionFault = (error: unknown): boolean => {
  if (error instanceof AppendTimeout) return true;
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

const withTimeout = async <T>(promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppendTimeout()), APPEND_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
};

/** Sends an append, and sends it again after a connection fault. Throws the last error. */
export const sendAppend = <T>(append: () => Promise<T>): Promise<T> =>
  retry(CONNECTION_RETRIES, isConnectionFault, () => withTimeout(append()));

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
