import { describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { createConcurrencyLimit } from '#platform/concurrency/queues.ts';

describe('concurrency limit', () => {
  test('rejects work above the limit without starting it, until running work has ended', async () => {
    const run = createConcurrencyLimit(2, 'exports');
    const ends = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    const running = ends.map(({ promise }) => run(() => promise));
    let isStarted = false;
    const start = async (): Promise<void> => {
      isStarted = true;
    };
    await expect(run(start)).rejects.toEqual(
      new Refusal('limit_reached', '2 exports are already running. Retry when one has ended.'),
    );
    expect(isStarted).toBe(false);
    ends[0].resolve('first');
    expect(await running[0]).toBe('first');
    await run(start);
    expect(isStarted).toBe(true);
    ends[1].resolve('second');
    expect(await running[1]).toBe('second');
  });

  test('frees the slot of failed work', async () => {
    const run = createConcurrencyLimit(1, 'exports');
    await expect(run(() => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
    expect(await run(() => Promise.resolve('done'))).toBe('done');
  });
});
