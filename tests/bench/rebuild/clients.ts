import { Pool } from 'undici';

/**
 * Clients in their own process. Each sends requests at a fixed rate, so that slow responses do not reduce the load.
 */
export interface Reading {
  readonly origin: string;
  /** Requested in rotation. */
  readonly paths: readonly string[];
  readonly keys: readonly string[];
  readonly clients: number;
  /** Milliseconds from one request of a client to its next. */
  readonly paceMs: number;
}

export interface ReadingResult {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
  readonly firstFailure: string | null;
}

let latencies: number[] = [];
let failed = 0;
let firstFailure: string | null = null;

function take(): ReadingResult {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const result = { requests: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), failed, firstFailure };
  latencies = [];
  failed = 0;
  return result;
}

async function read(reading: Reading): Promise<void> {
  const pool = new Pool(reading.origin, { connections: reading.clients });
  let requestCount = 0;
  const sendRequest = async (key: string): Promise<void> => {
    requestCount += 1;
    const sentMs = performance.now();
    const path = reading.paths[requestCount % reading.paths.length] ?? '/';
    try {
      const { statusCode, body } = await pool.request({
        path,
        method: 'GET',
        headers: { authorization: `Bearer ${key}` },
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text.slice(0, 200)}`);
    } catch (error) {
      failed += 1;
      firstFailure ??= String(error);
    }
    latencies.push(performance.now() - sentMs);
  };
  const client = async (number: number): Promise<never> => {
    let nextMs = performance.now() + (number / reading.clients) * reading.paceMs;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextMs - performance.now())));
      nextMs = Math.max(performance.now(), nextMs + reading.paceMs);
      await sendRequest(reading.keys[number % reading.keys.length] ?? '');
    }
  };
  await Promise.all(Array.from({ length: reading.clients }, (_, number) => client(number)));
}

if (import.meta.main) {
  process.on('message', (message: Reading | 'take') => {
    if (message === 'take') process.send?.(take());
    else void read(message);
  });
}
