import { expect, test } from 'vitest';
import { createKeyedMutex } from '#platform/concurrency/queues.ts';

test('runs tasks of one key in order, and continues after a failed task', async () => {
  const runExclusive = createKeyedMutex();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const waiting = [
    runExclusive('a', async () => {
      await first.promise;
      done.push('first');
    }),
    runExclusive('a', () => Promise.reject(new Error('second'))),
    runExclusive('a', () => Promise.resolve(done.push('third'))),
  ];
  await runExclusive('b', () => Promise.resolve(done.push('other')));
  first.resolve();
  await expect(waiting[1]).rejects.toThrow('second');
  await Promise.all([waiting[0], waiting[2]]);
  expect(done).toEqual(['other', 'first', 'third']);
});
