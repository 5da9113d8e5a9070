import { Pool } from 'undici';

/**
 * A load generator, in a process of its own: a number of connections, each with one request under way. It is told
 * what to do over IPC and answers with what it saw.
 */
export interface Load {
  readonly origin: string;
  /** Asked for in turn. */
  readonly paths: readonly string[];
  /** Used one after the other, each for so many requests that its minute's limit is not met. */
  readonly keys: readonly string[];
  readonly connections: number;
  readonly durationMs: number;
  readonly status: number;
}

export interface LoadSeen {
  readonly requests: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The first answer with another status, if there was one. */
  readonly fault: string | null;
}

/** Below the limit of every plan that a bench uses, with room for what a test before has used. */
const REQUESTS_PER_KEY = 900;

let keysUsed = 0;
let ofThisKey = 0;

function nextKey(keys: readonly string[]): string {
  ofThisKey += 1;
  if (ofThisKey > REQUESTS_PER_KEY) {
    ofThisKey = 1;
    keysUsed += 1;
  }
  return keys[keysUsed % keys.length] ?? '';
}

async function send(load: Load): Promise<LoadSeen> {
  const pool = new Pool(load.origin, { connections: load.connections, pipelining: 1 });
  const latencies: number[] = [];
  let fault: string | null = null;
  let turn = 0;
  const startMs = performance.now();
  const endMs = startMs + load.durationMs;

  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sentMs = performance.now();
      let body = '';
      let other = 0;
      turn += 1;
      pool.dispatch(
        {
          path: load.paths[turn % load.paths.length] ?? '/',
          method: 'GET',
          headers: load.keys.length === 0 ? {} : { authorization: `Bearer ${nextKey(load.keys)}` },
        },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, status) => {
            if (status !== load.status) other = status;
          },
          onResponseData: (_controller, chunk) => {
            if (other !== 0) body += chunk.toString('utf8');
          },
          onResponseEnd: () => {
            if (other !== 0) fault ??= `${other}: ${body.slice(0, 300)}`;
            latencies.push(performance.now() - sentMs);
            resolve();
          },
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });

  const connection = async (): Promise<void> => {
    while (performance.now() < endMs) await ask();
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
  process.on('message', (load: Load) => void send(load).then((seen) => process.send?.(seen)));
}
