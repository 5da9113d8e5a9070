import { Pool } from 'undici';

/** Clients in a process of their own, each asking at its own pace: what they wait is not what they ask. */
export interface Reading {
  readonly origin: string;
  /** Asked for in turn. */
  readonly paths: readonly string[];
  readonly keys: readonly string[];
  readonly clients: number;
  /** From one request of a client to its next. */
  readonly paceMs: number;
}

export interface ReadingSeen {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
  readonly firstFailure: string | null;
}

let latencies: number[] = [];
let failed = 0;
let firstFailure: string | null = null;

function take(): ReadingSeen {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const seen = { requests: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), failed, firstFailure };
  latencies = [];
  failed = 0;
  return seen;
}

async function read(reading: Reading): Promise<void> {
  const pool = new Pool(reading.origin, { connections: reading.clients });
  let turn = 0;
  const ask = async (key: string): Promise<void> => {
    turn += 1;
    const sentMs = performance.now();
    const path = reading.paths[turn % reading.paths.length] ?? '/';
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
      await ask(reading.keys[number % reading.keys.length] ?? '');
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
