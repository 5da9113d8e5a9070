import type { Event } from '#contracts/events/event.ts';
import { retry, type RetryLimits } from '../concurrency/retry.ts';

/** The client enforces append deadlines on the server only, so appends run under our own timer. */
const APPEND_TIMEOUT_MS = 10_000;
/** A lost connection or a slow server: the same events are appended again, by the same ids. */
const CONNECTION_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 50, maxDelayMs: 3_000 };
/** The server's own limit of one append is 1 MiB; this leaves room for what surrounds the data. */
const APPEND_MAX_BYTES = 900_000;
const APPEND_MAX_EVENTS = 1_000;

class AppendTimeout extends Error {
  constructor() {
    super(`no answer to an append within ${APPEND_TIMEOUT_MS} ms`);
    this.name = 'AppendTimeout';
  }
}

/**
 * Faults after which the same append may be sent again: the ids make it safe. The first append to a
 * server that is down rejects with a bare gRPC error (code 14) and no type.
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

/** Sends an append until the server answers it, or the last attempt failed. */
export const sendAppend = <T>(append: () => Promise<T>): Promise<T> =>
  retry(CONNECTION_RETRIES, isConnectionFault, () => withTimeout(append()));

/**
 * Events in slices that one append may hold. `from`: the place of a slice's first. An event alone is a slice whatever its
 * size, so that one which is too large is refused by the server, by name; it need not be measured here.
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
    const size = Buffer.byteLength(JSON.stringify(event.data)) + 600;
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
