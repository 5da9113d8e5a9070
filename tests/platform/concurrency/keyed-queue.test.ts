import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Lanes } from '#platform/concurrency/keyed-queue.ts';

const AT_ONCE = 3;

describe('lanes', () => {
  test('keep the order of a key, run so much at once and lose nothing', async () => {
    const brought = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), turns: fc.nat(4) }), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(brought, async (works) => {
        const lanes = new Lanes(AT_ONCE);
        const done: string[] = [];
        let running = 0;
        let most = 0;
        for (const [index, { key, turns }] of works.entries()) {
          await lanes.add(key, async () => {
            running += 1;
            most = Math.max(most, running);
            for (let count = 0; count < turns; count += 1) await turn();
            running -= 1;
            done.push(`${key}${index}`);
          });
        }
        await lanes.end();
        expect(done).toHaveLength(works.length);
        expect(most).toBeLessThanOrEqual(AT_ONCE);
        for (const key of 'abcd') {
          const own = done.filter((name) => name.startsWith(key));
          const expected = works.flatMap((work, index) => (work.key === key ? [`${key}${index}`] : []));
          expect(own).toEqual(expected);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('run side by side what has different keys', async () => {
    const lanes = new Lanes(2);
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    await lanes.add('a', () => met);
    await lanes.add('b', async () => meet());
    await lanes.end();
  });

  test('begin nothing after a failure, and tell of it', async () => {
    const lanes = new Lanes(1);
    const begun: string[] = [];
    await lanes.add('a', async () => {
      begun.push('a');
      throw new Error('the log is gone');
    });
    await expect(lanes.add('b', async () => void begun.push('b'))).rejects.toThrow('the log is gone');
    await expect(lanes.end()).rejects.toThrow('the log is gone');
    expect(begun).toEqual(['a']);
  });
});
