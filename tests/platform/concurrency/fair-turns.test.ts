import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairTurns, TURNS_WAITING_MAX } from '#platform/concurrency/fair-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('one caller that sends alone never waits', async () => {
  const turns = createFairTurns();
  for (let count = 0; count < 10; count += 1) {
    expect(turns.enter('one')).toBeUndefined();
    expect(turns.enter('one')).toBeUndefined();
    await turn();
  }
});

test('a caller starts between any number of requests of another, which all start in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 3, max: 200 }),
      fc.integer({ min: 0, max: 40 }),
      async (size, later) => {
        const turns = createFairTurns();
        const started: number[] = [];
        const many = Array.from({ length: size }, async (_, place) => {
          await turns.enter('many');
          started.push(place);
        });
        for (let count = 0; count < later; count += 1) await turn();
        expect(turns.enter('one')).toBeUndefined();
        await Promise.all(many);
        expect(started).toEqual(started.toSorted((a, b) => a - b));
        expect(started).toHaveLength(size);
      },
    ),
    { numRuns: 30 },
  );
});

test('beyond the maximum that may wait, requests start at once', () => {
  const turns = createFairTurns();
  const waits = (): boolean => turns.enter('many') !== undefined;
  const answers = Array.from({ length: TURNS_WAITING_MAX + 10 }, waits);
  expect(answers.filter(Boolean)).toHaveLength(TURNS_WAITING_MAX);
});
