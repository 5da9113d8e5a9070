import { describe, expect, test } from 'vitest';
import { backoffMs, retry } from '#platform/concurrency/retry.ts';

const LIMITS = { attempts: 3, firstDelayMs: 1, maxDelayMs: 2 };

describe('retry', () => {
  test('repeats a retryable error up to the limit, then throws the last one', async () => {
    const attempts: number[] = [];
    const failing = retry(
      LIMITS,
      () => true,
      async (attempt) => {
        attempts.push(attempt);
        throw new Error(`failure ${attempt}`);
      },
    );
    await expect(failing).rejects.toThrow('failure 2');
    expect(attempts).toEqual([0, 1, 2]);
  });

  test('returns the first success, and does not repeat an error that is not retryable', async () => {
    const run = async (attempt: number): Promise<string> => {
      if (attempt === 0) throw new TypeError('busy');
      return 'done';
    };
    expect(await retry(LIMITS, (error) => error instanceof TypeError, run)).toBe('done');
    await expect(retry(LIMITS, () => false, run)).rejects.toThrow('busy');
  });

  test('stops when the signal is aborted during the delay', async () => {
    const ending = new AbortController();
    let runs = 0;
    const failing = retry(
      { attempts: 10, firstDelayMs: 60_000, maxDelayMs: 60_000 },
      () => true,
      async () => {
        runs += 1;
        setImmediate(() => ending.abort());
        throw new Error('down');
      },
      ending.signal,
    );
    await expect(failing).rejects.toThrow('down');
    expect(runs).toBe(2);
  });

  test('doubles the maximum delay with each attempt, up to the limit', () => {
    const limits = { attempts: 9, firstDelayMs: 100, maxDelayMs: 300 };
    for (const [attempt, maxMs] of [100, 200, 300, 300].entries()) {
      const delays = Array.from({ length: 50 }, () => backoffMs(attempt, limits));
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...delays)).toBeLessThanOrEqual(maxMs);
    }
  });
});
