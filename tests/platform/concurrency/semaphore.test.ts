import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSemaphore } from '#platform/concurrency/queues.ts';

describe('semaphore', () => {
  test('grants its slots at once, and passes a freed slot to the first waiter', async () => {
    const semaphore = createSemaphore(2);
    const granted: string[] = [];
    const acquire = (name: string): Promise<number> => semaphore.acquire().then(() => granted.push(name));
    const all = ['a', 'b', 'c', 'd'].map(acquire);
    await nextIteration();
    expect(granted).toEqual(['a', 'b']);
    semaphore.release();
    await nextIteration();
    expect(granted).toEqual(['a', 'b', 'c']);
    semaphore.release();
    await Promise.all(all);
    expect(granted).toEqual(['a', 'b', 'c', 'd']);
  });

  test('keeps a slot free that is released without waiters', async () => {
    const semaphore = createSemaphore(1);
    await semaphore.acquire();
    semaphore.release();
    await semaphore.acquire();
    let isGranted = false;
    const third = semaphore.acquire().then(() => (isGranted = true));
    await nextIteration();
    expect(isGranted).toBe(false);
    semaphore.release();
    await third;
  });

  test('gives a slot to a waiter before a caller that comes during the release', async () => {
    const semaphore = createSemaphore(1);
    await semaphore.acquire();
    const granted: string[] = [];
    const waiter = semaphore.acquire().then(() => granted.push('waiter'));
    semaphore.release();
    const newcomer = semaphore.acquire().then(() => granted.push('newcomer'));
    await waiter;
    expect(granted).toEqual(['waiter']);
    semaphore.release();
    await newcomer;
  });
});
