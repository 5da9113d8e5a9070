import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createReadCoalescing } from '#operations/dependencies/read-coalescing.ts';

const reply = (data: string) => ({ data, asOf: null });

describe('reads of one event-loop iteration', () => {
  it('run once for equal keys and separately for different keys', async () => {
    const share = createReadCoalescing<ReturnType<typeof reply>>();
    let reads = 0;
    const read = async (key: string) => {
      reads += 1;
      return reply(key);
    };
    const found = await Promise.all(['a', 'a', 'b', 'a'].map((key) => share(key, () => read(key))));
    expect(found.map(({ data }) => data)).toEqual(['a', 'a', 'b', 'a']);
    expect(reads).toBe(2);
  });

  it('are not shared with the next iteration, even while they are running', async () => {
    const share = createReadCoalescing<ReturnType<typeof reply>>();
    const { promise: late, resolve } = Promise.withResolvers<ReturnType<typeof reply>>();
    const first = share('a', () => late);
    await nextIteration();
    expect((await share('a', async () => reply('new'))).data).toBe('new');
    resolve(reply('old'));
    expect((await first).data).toBe('old');
  });

  it('fail together, and the next iteration reads again', async () => {
    const share = createReadCoalescing<ReturnType<typeof reply>>();
    const fails = () => share('a', () => Promise.reject(new Error('lost')));
    const outcomes = await Promise.allSettled([fails(), fails()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await nextIteration();
    expect((await share('a', async () => reply('again'))).data).toBe('again');
  });
});
