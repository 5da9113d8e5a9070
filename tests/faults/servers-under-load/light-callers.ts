import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

/**
 * Callers of light reads. Each reads one brand all the time, one read after the other, while another caller uses new keys for the first
 * time. The process replies to each message with what it measured.
 */

/** A message to the process: where the API is, the light read, its key and its callers, and the keys to use for the first time. */
export type LightReads = {
  readonly origin: string;
  readonly path: string;
  readonly key: string;
  readonly callers: number;
  readonly newKeys: readonly string[];
  /** Milliseconds before each new key. */
  readonly everyMs: number;
};

/** Milliseconds from each request to the last byte of its answer. */
export type LightReadTimes = { readonly hot: readonly number[]; readonly checks: readonly number[] };

const timed = async (pool: Pool, path: string, key: string): Promise<number> => {
  const since = performance.now();
  const { statusCode, body } = await pool.request({
    path,
    method: 'GET',
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`);
  return performance.now() - since;
};

const measure = async (
  pool: Pool,
  { path, key, callers, newKeys, everyMs }: LightReads,
): Promise<LightReadTimes> => {
  const [hot, checks]: [number[], number[]] = [[], []];
  const ending = new AbortController();
  const readOn = async (): Promise<void> => {
    while (!ending.signal.aborted) hot.push(await timed(pool, path, key));
  };
  const useKeys = async (): Promise<void> => {
    for (const newKey of newKeys) {
      await delay(everyMs);
      checks.push(await timed(pool, '/v1/me', newKey));
    }
    ending.abort();
  };
  await Promise.all([useKeys(), ...Array.from({ length: callers }, readOn)]);
  return { hot, checks };
};

let pool: Pool | undefined;
process.on('message', (reads: LightReads) => {
  pool ??= new Pool(reads.origin, { connections: reads.callers + 1 });
  void measure(pool, reads).then((times) => process.send?.(times));
});
