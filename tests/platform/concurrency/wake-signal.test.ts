import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';

describe('wake signal', () => {
  test('wakes all waiters at a notification', async () => {
    const signal = createWakeSignal();
    const waiters = [signal.next(), signal.next(), signal.next({ timeoutMs: 60_000 })];
    signal.notify();
    await Promise.all(waiters);
  });

  test('stores no notification for later waiters', async () => {
    const signal = createWakeSignal();
    signal.notify();
    let isAwake = false;
    const waiter = signal.next().then(() => (isAwake = true));
    await nextIteration();
    expect(isAwake).toBe(false);
    signal.notify();
    await waiter;
  });

  test('loses no notification between the call and the await', async () => {
    const signal = createWakeSignal();
    const waiter = signal.next();
    signal.notify();
    await nextIteration();
    await waiter;
  });

  test('resolves after the timeout, and only once', async () => {
    vi.useFakeTimers();
    try {
      const signal = createWakeSignal();
      let woken = 0;
      const waiter = signal.next({ timeoutMs: 1_000 }).then(() => (woken += 1));
      await vi.advanceTimersByTimeAsync(999);
      expect(woken).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      await waiter;
      signal.notify();
      expect(woken).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('clears the timer at a notification', async () => {
    vi.useFakeTimers();
    try {
      const signal = createWakeSignal();
      const waiter = signal.next({ timeoutMs: 1_000 });
      expect(vi.getTimerCount()).toBe(1);
      signal.notify();
      await waiter;
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('resolves when the abort signal is aborted, before or during the wait', async () => {
    const signal = createWakeSignal();
    const ending = new AbortController();
    const waiter = signal.next({ signal: ending.signal, timeoutMs: 60_000 });
    ending.abort();
    await waiter;
    await signal.next({ signal: ending.signal });
  });
});
