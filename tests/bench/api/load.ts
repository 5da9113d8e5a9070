import { Pool } from 'undici';

/**
 * A load generator in its own process: a number of connections with one request in flight each. It receives its
 * orders over IPC and replies with its measurements.
 */
export interface Load {
  readonly origin: string;
  /** Requested in rotation. */
  readonly paths: readonly string[];
  /** Used one after the other; each is replaced before it reaches its rate limit per minute. */
  readonly keys: readonly string[];
  readonly connections: number;
  readonly durationMs: number;
  readonly status: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The first response with an unexpected status, if any. */
  readonly fault: string | null;
}

/** Below the rate limit of every plan used by a bench, with a reserve for requests of a preceding measurement. */
const REQUESTS_PER_KEY = 900;

let keysUsed = 0;
let requestsOfKey = 0;

function nextKey(keys: readonly string[]): string {
  requestsOfKey += 1;
  if (requestsOfKey > REQUESTS_PER_KEY) {
    requestsOfKey = 1;
    keysUsed += 1;
  }
  return keys[keysUsed % keys.length] ?? '';
}

async function send(load: Load): Promise<LoadResult> {
  const pool = new Pool(load.origin, { connections: load.connections, pipelining: 1 });
  const latencies: number[] = [];
  let fault: string | null = null;
  let requestCount = 0;
  const startMs = performance.now();
  const endMs = startMs + load.durationMs;

  const sendRequest = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sentMs = performance.now();
      let body = '';
      let unexpectedStatus = 0;
      requestCount += 1;
      pool.dispatch(
        {
          path: load.paths[requestCount % load.paths.length] ?? '/',
          method: 'GET',
          headers: load.keys.length === 0 ? {} : { authorization: `Bearer ${nextKey(load.keys)}` },
        },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, status) => {
            if (status !== load.status) unexpectedStatus = status;
          },
          onResponseData: (_controller, chunk) => {
            if (unexpectedStatus !== 0) body += chunk.toString('utf8');
          },
          onResponseEnd: () => {
            if (unexpectedStatus !== 0) fault ??= `${unexpectedStatus}: ${body.slice(0, 300)}`;
            latencies.push(performance.now() - sentMs);
            resolve();
          },
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });

  const connection = async (): Promise<void> => {
    while (performance.now() < endMs) await sendRequest();
  };
  await Promise.all(Array.from({ length: load.connections }, connection));
  const elapsedMs = performance.now() - startMs;
  await pool.close();
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    elapsedMs,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    fault,
  };
}

if (import.meta.main) {
  process.on('message', (load: Load) => void send(load).then((result) => process.send?.(result)));
}
