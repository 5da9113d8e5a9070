import { describe, expect, test } from 'vitest';
import { createPromiseQueue } from '#platform/concurrency/queues.ts';

const LONG_MS = 60_000;

describe('promise queue', () => {
  test('returns results in the order in which the promises are fulfilled', async () => {
    const queue = createPromiseQueue<string>();
    const slow = Promise.withResolvers<string>();
    const fast = Promise.withResolvers<string>();
    queue.watch(slow.promise);
    queue.watch(fast.promise);
    const first = queue.next(LONG_MS);
    fast.resolve('fast');
    expect(await first).toBe('fast');
    slow.resolve('slow');
    expect(await queue.next(LONG_MS)).toBe('slow');
  });

  test('keeps results until they are read', async () => {
    const queue = createPromiseQueue<number>();
    queue.watch(Promise.resolve(1));
    queue.watch(Promise.resolve(2));
    expect([await queue.next(LONG_MS), await queue.next(LONG_MS)]).toEqual([1, 2]);
  });

  test('returns null after the timeout, and the result at a later call', async () => {
    const queue = createPromiseQueue<string>();
    const pending = Promise.withResolvers<string>();
    queue.watch(pending.promise);
    expect(await queue.next(1)).toBeNull();
    pending.resolve('late');
    expect(await queue.next(LONG_MS)).toBe('late');
  });

  test('throws the first error of a watched promise at this call and each later one', async () => {
    const queue = createPromiseQueue<string>();
    const failing = Promise.withResolvers<string>();
    queue.watch(failing.promise);
    const next = queue.next(LONG_MS);
    failing.reject(new Error('connection lost'));
    queue.watch(Promise.reject(new Error('second error')));
    await expect(next).rejects.toThrow('connection lost');
    await expect(queue.next(LONG_MS)).rejects.toThrow('connection lost');
  });
});
