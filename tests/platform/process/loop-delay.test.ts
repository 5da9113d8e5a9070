import { expect, test } from 'vitest';
import { createLoopLoad, openLoopLoad } from '#platform/process/loop-delay.ts';

const LIMIT_MS = 40;

const refusedAfter = (windows: readonly number[]) => {
  const load = createLoopLoad(100);
  return windows.map((delayMs) => {
    load.window(delayMs);
    return load.refused();
  });
};

test('a late event loop refuses searches after a second, reads after three, and nothing once it is in time', () => {
  expect(refusedAfter([101, 90, 101])).toEqual(['nothing', 'nothing', 'nothing']);
  expect(refusedAfter([101, 101, 300, 101, 101, 101, 101, 100])).toEqual([
    'nothing',
    'searches',
    'searches',
    'searches',
    'searches',
    'reads and searches',
    'reads and searches',
    'nothing',
  ]);
});

test('the delay is measured while the event loop is blocked again and again', async () => {
  using load = openLoopLoad(LIMIT_MS);
  const block = (): void => {
    const until = performance.now() + 3 * LIMIT_MS;
    while (performance.now() < until);
  };
  const blocking = setInterval(block, 4 * LIMIT_MS);
  try {
    await expect.poll(() => load.refused(), { timeout: 60_000, interval: 50 }).toBe('reads and searches');
  } finally {
    clearInterval(blocking);
  }
});
