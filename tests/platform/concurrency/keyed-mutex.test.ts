import { expect, test } from 'vitest';
import { createKeyedMutex } from '#platform/concurrency/keyed-mutex.ts';

test('work under one name is done in order, and a failure holds nobody up', async () => {
  const turns = createKeyedMutex();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const waiting = [
    turns('a', async () => {
      await first.promise;
      done.push('first');
    }),
    turns('a', () => Promise.reject(new Error('second'))),
    turns('a', () => Promise.resolve(done.push('third'))),
  ];
  await turns('b', () => Promise.resolve(done.push('other')));
  first.resolve();
  await expect(waiting[1]).rejects.toThrow('second');
  await Promise.all([waiting[0], waiting[2]]);
  expect(done).toEqual(['other', 'first', 'third']);
});
