import { expect, test } from 'vitest';
import { pause } from '#platform/clock.ts';
import {
  hasTime,
  hasTimeBudget,
  outsideTimeBudget,
  requireTime,
  timeLeft,
  TimeUsedUp,
  timeSignal,
  untilTimeUsedUp,
  withTimeBudget,
} from '#platform/concurrency/time-budget.ts';

const NEVER = new Promise<never>(() => undefined);

test('a wait gets the lesser of its own limit and what is left, and its own limit without a budget', async () => {
  expect([timeLeft(70), hasTimeBudget(), timeSignal()]).toEqual([70, false, undefined]);
  await withTimeBudget(5_000, async () => {
    expect(timeLeft(70)).toBe(70);
    expect(timeLeft(60_000)).toBeLessThanOrEqual(5_000);
    await withTimeBudget(60_000, async () => expect(timeLeft(60_000)).toBeLessThanOrEqual(5_000));
    await withTimeBudget(100, async () => expect(timeLeft(60_000)).toBeLessThanOrEqual(100));
    expect(outsideTimeBudget(() => timeLeft(60_000))).toBe(60_000);
  });
});

test('at the end of the budget the waits in progress throw, after its callback, and no work begins', async () => {
  const order: string[] = [];
  await withTimeBudget(
    20,
    async () => {
      await expect(untilTimeUsedUp(NEVER)).rejects.toBeInstanceOf(TimeUsedUp);
      order.push('wait');
      await expect(untilTimeUsedUp(NEVER)).rejects.toBeInstanceOf(TimeUsedUp);
      expect([hasTime(), timeLeft(70), timeSignal()?.aborted]).toEqual([false, 0, false]);
      expect(requireTime).toThrow(TimeUsedUp);
    },
    () => order.push('callback'),
  );
  expect(order).toEqual(['callback', 'wait']);
});

test('a wait that begins when others have just thrown throws too, although timers are early by part of a millisecond', async () => {
  const begin = (ms: number): Promise<void> =>
    withTimeBudget(ms, async () => {
      await expect(untilTimeUsedUp(NEVER)).rejects.toBeInstanceOf(TimeUsedUp);
      expect(hasTime()).toBe(false);
      await expect(untilTimeUsedUp(NEVER)).rejects.toBeInstanceOf(TimeUsedUp);
    });
  const begun: Promise<void>[] = [];
  for (let count = 0; count < 300; count += 1) {
    begun.push(begin(3 + (count % 10) / 10));
    const until = performance.now() + 0.13;
    while (performance.now() < until);
    if (count % 5 === 0) await pause(1);
  }
  await Promise.all(begun);
});

test('an answer or error in time passes through', async () => {
  await withTimeBudget(5_000, async () => {
    expect(await untilTimeUsedUp(Promise.resolve(1))).toBe(1);
    await expect(untilTimeUsedUp(Promise.reject(new Error('own')))).rejects.toThrow('own');
  });
});

test('what a request has left in the background has no budget once the request is over', async () => {
  const background = Promise.withResolvers<number>();
  await withTimeBudget(10, async () => {
    setTimeout(() => background.resolve(timeLeft(70)), 30);
    await pause(1);
  });
  expect(await background.promise).toBe(70);
});
