import { Pool } from 'undici';
import { percentile } from './bench.ts';

/**
 * A process with one request in flight per connection, controlled over IPC. Replies after `durationMs`, or to `take`.
 */
export interface Load {
  readonly origin: string;
  readonly paths: readonly string[];
  readonly key: string | null;
  readonly connections: number;
  /** `null`: until the process ends. */
  readonly durationMs: number | null;
  /** Fixed rate of a connection, so that slow responses do not reduce the load; 0 sends at once. */
  readonly paceMs?: number;
  readonly status: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
  readonly fault: string | null;
}

let latencies: number[] = [];
let failed = 0;
let fault: string | null = null;
let startMs = 0;

const take = (): LoadResult => {
  const elapsedMs = performance.now() - startMs;
  const times = { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
  const result = { requests: latencies.length, elapsedMs, ...times, failed, fault };
  latencies = [];
  failed = 0;
  fault = null;
  startMs = performance.now();
  return result;
};

const send = async (load: Load): Promise<void> => {
  const pool = new Pool(load.origin, { connections: load.connections, pipelining: 1 });
  const headers = load.key === null ? {} : { authorization: `Bearer ${load.key}` };
  let requestCount = 0;
  take();
  const endMs = load.durationMs === null ? Number.POSITIVE_INFINITY : startMs + load.durationMs;

  const sendRequest = (): Promise<void> =>
    new Promise((resolve) => {
      const sentMs = performance.now();
      let body = '';
      let unexpectedStatus = 0;
      requestCount += 1;
      const path = load.paths[requestCount % load.paths.length] ?? '/';
      const end = (failure: string | null): void => {
        if (failure !== null) {
          failed += 1;
          fault ??= `${path}: ${failure}`;
        }
        latencies.push(performance.now() - sentMs);
        resolve();
      };
      pool.dispatch(
        { path, method: 'GET', headers },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, status) => {
            if (status !== load.status) unexpectedStatus = status;
          },
          onResponseData: (_controller, chunk) => {
            if (unexpectedStatus !== 0) body += chunk.toString('utf8');
          },
          onResponseEnd: () =>
            end(unexpectedStatus === 0 ? null : `${unexpectedStatus} ${body.slice(0, 300)}`),
          onResponseError: (_controller, error) => end(String(error)),
        },
      );
    });

  const { paceMs = 0 } = load;
  const connection = async (number: number): Promise<void> => {
    let nextMs = startMs + (number / load.connections) * paceMs;
    while (performance.now() < endMs) {
      if (paceMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextMs - performance.now())));
        nextMs = Math.max(performance.now(), nextMs + paceMs);
      }
      await sendRequest();
    }
  };
  await Promise.all(Array.from({ length: load.connections }, (_, number) => connection(number)));
  const result = take();
  await pool.close();
  process.send?.(result);
};

if (import.meta.main) {
  process.on('message', (message: Load | 'take') => {
    if (message === 'take') process.send?.(take());
    else void send(message);
  });
}
