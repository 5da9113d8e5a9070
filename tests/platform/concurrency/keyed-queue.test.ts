import { setImmediate as nextIteration } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyedQueue } from '#platform/concurrency/queues.ts';
import { runs } from '#tests/property-seed.ts';

const AT_ONCE = 3;

describe('keyed queue', () => {
  test('runs all tasks, in order within a key, and at most the given number at once', async () => {
    const tasks = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), iterations: fc.nat(4) }), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(tasks, async (works) => {
        const queue = createKeyedQueue(AT_ONCE);
        const done: string[] = [];
        let running = 0;
        let most = 0;
        for (const [index, { key, iterations }] of works.entries()) {
          await queue.add(key, async () => {
            running += 1;
            most = Math.max(most, running);
            for (let count = 0; count < iterations; count += 1) await nextIteration();
            running -= 1;
            done.push(`${key}${index}`);
          });
        }
        await queue.end();
        expect(done).toHaveLength(works.length);
        expect(most).toBeLessThanOrEqual(AT_ONCE);
        for (const key of 'abcd') {
          const own = done.filter((name) => name.startsWith(key));
          const expected = works.flatMap((work, index) => (work.key === key ? [`${key}${index}`] : []));
          expect(own).toEqual(expected);
        }
      }),
      { numRuns: runs(50) },
    );
  });

  test('runs tasks of different keys concurrently', async () => {
    const queue = createKeyedQueue(2);
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    await queue.add('a', () => met);
    await queue.add('b', async () => meet());
    await queue.end();
  });

  test('starts no task after a failure, and rejects with its error', async () => {
    const queue = createKeyedQueue(1);
    const started: string[] = [];
    await queue.add('a', async () => {
      started.push('a');
      throw new Error('log unavailable');
    });
    await expect(queue.add('b', async () => void started.push('b'))).rejects.toThrow('log unavailable');
    await expect(queue.end()).rejects.toThrow('log unavailable');
    expect(started).toEqual(['a']);
  });

  test('rejects all waiting callers after a failure', async () => {
    const queue = createKeyedQueue(1);
    const failing = Promise.withResolvers<void>();
    await queue.add('a', () => failing.promise);
    const started: string[] = [];
    const waiting = ['b', 'c'].map((key) => queue.add(key, async () => void started.push(key)));
    failing.reject(new Error('log unavailable'));
    for (const one of waiting) await expect(one).rejects.toThrow('log unavailable');
    expect(started).toEqual([]);
  });
});
