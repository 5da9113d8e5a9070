import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createReadCoalescing } from '#operations/dependencies/read-coalescing.ts';

const answer = (data: string) => ({ data, asOf: null });

describe('reads of one turn', () => {
  it('that ask for the same are one, others are not', async () => {
    const share = createReadCoalescing();
    let reads = 0;
    const read = async (what: string) => {
      reads += 1;
      return answer(what);
    };
    const found = await Promise.all(['a', 'a', 'b', 'a'].map((what) => share(what, () => read(what))));
    expect(found.map(({ data }) => data)).toEqual(['a', 'a', 'b', 'a']);
    expect(reads).toBe(2);
  });

  it('are not shared with the next turn, even while they are still under way', async () => {
    const share = createReadCoalescing();
    const { promise: late, resolve } = Promise.withResolvers<ReturnType<typeof answer>>();
    const first = share('a', () => late);
    await nextTurn();
    expect((await share('a', async () => answer('new'))).data).toBe('new');
    resolve(answer('old'));
    expect((await first).data).toBe('old');
  });

  it('fail together, and the next one is tried anew', async () => {
    const share = createReadCoalescing();
    const fails = () => share('a', () => Promise.reject(new Error('lost')));
    const outcomes = await Promise.allSettled([fails(), fails()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await nextTurn();
    expect((await share('a', async () => answer('again'))).data).toBe('again');
  });
});
