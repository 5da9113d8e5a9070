export type SenderOptions = {
  /** Repetitions of a request at most; 4 by default. 0 turns them off. */
  readonly retries?: number;
  /** No repetition is sent later than this after the first attempt; 75 s by default, so that a minute's limit is over. */
  readonly retryWithinMs?: number;
  /** Limit of one attempt with its reply; 30 s by default, which is more than the API takes. */
  readonly timeoutMs?: number;
  /** Position to begin with, from `position()` of another client. */
  readonly minPosition?: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
};

export type Sender = {
  send(request: Request): Promise<Response>;
  position(): string | undefined;
};

const RETRIES = 4;
const RETRY_WITHIN_MS = 75_000;
const TIMEOUT_MS = 30_000;

/** Milliseconds to wait, or `null` without a valid header (RFC 9110, section 10.2.3). */
const retryAfterMs = (response: Response): number | null => {
  const text = response.headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
};

/**
 * A 429 was not executed. Behind a 503 a write may be recorded, so that only requests are repeated that may arrive
 * twice (RFC 9110, section 9.2.2): reads, removals, and with their idempotency key those that create something.
 */
const mayRepeat = ({ method }: Request, status: number): boolean =>
  status === 429 || (status === 503 && method !== 'PATCH');

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });

/** Sends requests of the API: with idempotency keys and positions, with a timeout, and again after `retry-after`. */
export const createSender = (options: SenderOptions): Sender => {
  const { retries = RETRIES, retryWithinMs = RETRY_WITHIN_MS, timeoutMs = TIMEOUT_MS } = options;
  let position = BigInt(options.minPosition ?? 0);
  const positionText = (): string | undefined => (position === 0n ? undefined : position.toString());

  const attempt = async (request: Request): Promise<Response> => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    const sent = new Request(request.clone(), { signal });
    const response = await (options.fetch ?? fetch)(sent);
    const text = response.headers.get('x-read-position') ?? '';
    if (/^\d+$/.test(text) && BigInt(text) > position) position = BigInt(text);
    return response;
  };

  return {
    position: positionText,
    send: async (request) => {
      const { headers, method } = request;
      const minPosition = positionText();
      if (method === 'GET' && minPosition && !headers.has('min-position'))
        headers.set('min-position', minPosition);
      if (method === 'POST' && !headers.has('idempotency-key'))
        headers.set('idempotency-key', crypto.randomUUID());
      const until = performance.now() + retryWithinMs;
      for (let sent = 1; ; sent += 1) {
        const response = await attempt(request);
        const waitMs = mayRepeat(request, response.status) ? retryAfterMs(response) : null;
        if (waitMs === null || sent > retries || performance.now() + waitMs > until) return response;
        await response.body?.cancel();
        await pause(waitMs, request.signal);
      }
    },
  };
};
