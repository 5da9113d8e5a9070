import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

/** Callers that read one brand over and over, and one that uses new keys. The process replies with the times. */

export type LightReads = {
  readonly origin: string;
  readonly path: string;
  readonly key: string;
  readonly callers: number;
  readonly newKeys: readonly string[];
  readonly everyMs: number;
};

/** Milliseconds from a request to the last byte. */
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
