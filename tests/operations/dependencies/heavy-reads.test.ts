import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createHeavyReads,
  HEAVY_MAX,
  HEAVY_PER_WORKSPACE_MAX,
  HEAVY_WAIT_MS,
  WAITING_PER_WORKSPACE_MAX,
} from '#operations/dependencies/heavy-reads.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const open = () => {
  const searches: PromiseWithResolvers<string>[] = [];
  const heavy = createHeavyReads();
  const search = (workspaceId: string): Promise<string> =>
    heavy(workspaceId, () => {
      const one = Promise.withResolvers<string>();
      searches.push(one);
      return one.promise;
    });
  return { searches, search };
};

/** Waits until all that is ready has run. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('heavy reads', () => {
  test('of one workspace run in its places, eight wait, and further ones are refused with a time', async () => {
    const { search, searches } = open();
    const sent = HEAVY_PER_WORKSPACE_MAX + WAITING_PER_WORKSPACE_MAX;
    const accepted = Array.from({ length: sent }, () => search('one'));
    await expect(search('one')).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    await settle();
    expect(searches).toHaveLength(HEAVY_PER_WORKSPACE_MAX);
    for (let done = 0; done < sent; done += 1) {
      searches[done]?.resolve('found');
      await settle();
    }
    expect(await Promise.all(accepted)).toHaveLength(sent);
    const again = search('one');
    await settle();
    searches.at(-1)?.resolve('again');
    expect(await again).toBe('again');
  });

  test('of one workspace leave places to others, also to those that come later', async () => {
    const { search, searches } = open();
    const crowd = Array.from({ length: 5 }, () => search('one'));
    const others = Array.from({ length: HEAVY_MAX - HEAVY_PER_WORKSPACE_MAX }, (_, place) =>
      search(`other ${place}`),
    );
    await settle();
    expect(searches).toHaveLength(HEAVY_MAX);
    const late = search('late');
    searches.at(-1)?.resolve('first');
    await others.at(-1);
    await settle();
    // The free place goes to the workspace below its limit, although the others came first.
    searches.at(-1)?.resolve('late');
    expect(await late).toBe('late');
    for (let place = 0; place < searches.length; place += 1) {
      searches[place]?.resolve('found');
      await settle();
    }
    await Promise.all([...crowd, ...others]);
  });

  test('wait no longer than their limit', async () => {
    const { search } = open();
    for (let count = 0; count < HEAVY_PER_WORKSPACE_MAX; count += 1) void search('one');
    const waiting = search('one').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(HEAVY_WAIT_MS);
    expect(await waiting).toMatchObject({ code: 'overloaded' });
  });

  test('that fail free their place', async () => {
    const { search, searches } = open();
    for (let count = 0; count < 3 * HEAVY_PER_WORKSPACE_MAX; count += 1) {
      const failing = search('one');
      await settle();
      searches.at(-1)?.reject(new Error('lost'));
      await expect(failing).rejects.toThrow('lost');
    }
  });
});
