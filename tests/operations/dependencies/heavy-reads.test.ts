import { describe, expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { Refusal } from '#contracts/errors.ts';
import { createLoopLoad } from '#platform/process/loop-delay.ts';
import {
  createHeavyReads,
  FAST_PER_WORKSPACE_MAX,
  HEAVY_IN_FLIGHT_MAX,
  HEAVY_PER_WORKSPACE_MAX,
  WAITING_PER_WORKSPACE_MAX,
} from '#operations/dependencies/heavy-reads.ts';

const QUERY = { sql: 'select', values: [] };

/** A database whose searches end when the test says so. */
const openDatabase = () => {
  const searches: PromiseWithResolvers<readonly never[]>[] = [];
  const db = {
    query: async () => [],
    slow: () => {
      const search = Promise.withResolvers<readonly never[]>();
      searches.push(search);
      return search.promise;
    },
  } as ReadDatabase;
  return { db, searches };
};

/** Waits until all that is ready has run. */
const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('heavy reads', () => {
  test('of one workspace: two run, eight wait, further ones are refused with a time', async () => {
    const { db, searches } = openDatabase();
    const own = createHeavyReads().of(db, 'one');
    const sent = HEAVY_PER_WORKSPACE_MAX + WAITING_PER_WORKSPACE_MAX;
    const accepted = Array.from({ length: sent }, () => own.slow(QUERY));
    const refused = await own.slow(QUERY).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    await settle();
    expect(searches).toHaveLength(HEAVY_PER_WORKSPACE_MAX);
    for (let done = 0; done < sent; done += 1) {
      searches[done]?.resolve([]);
      await settle();
    }
    expect(await Promise.all(accepted)).toHaveLength(sent);
    const again = own.slow(QUERY);
    await settle();
    searches.at(-1)?.resolve([]);
    expect(await again).toEqual([]);
  });

  test('of one workspace leave connections to others, also to those that come later', async () => {
    const { db, searches } = openDatabase();
    const heavy = createHeavyReads();
    const crowd = Array.from({ length: 5 }, () => heavy.of(db, 'one').slow(QUERY));
    const others = Array.from({ length: HEAVY_IN_FLIGHT_MAX - HEAVY_PER_WORKSPACE_MAX }, (_, place) =>
      heavy.of(db, `other ${place}`).slow(QUERY),
    );
    await settle();
    expect(searches).toHaveLength(HEAVY_IN_FLIGHT_MAX);
    const late = heavy.of(db, 'late').slow(QUERY);
    searches.at(-1)?.resolve([]);
    await others.at(-1);
    await settle();
    // The free place goes to the workspace below its limit, although the others came first.
    searches.at(-1)?.resolve([]);
    expect(await late).toEqual([]);
    for (let place = 0; place < searches.length; place += 1) {
      searches[place]?.resolve([]);
      await settle();
    }
    await Promise.all([...crowd, ...others]);
  });

  test('wait no longer than their limit', async () => {
    const { db } = openDatabase();
    const own = createHeavyReads({ waitMs: 1 }).of(db, 'one');
    for (let count = 0; count < HEAVY_PER_WORKSPACE_MAX; count += 1) void own.slow(QUERY);
    await expect(own.slow(QUERY)).rejects.toBeInstanceOf(Refusal);
  });

  test('that fail free their place', async () => {
    const { db, searches } = openDatabase();
    const own = createHeavyReads().of(db, 'one');
    for (let count = 0; count < 3 * HEAVY_PER_WORKSPACE_MAX; count += 1) {
      const search = own.slow(QUERY);
      await settle();
      searches.at(-1)?.reject(new Error('lost'));
      await expect(search).rejects.toThrow('lost');
    }
  });

  test('are refused while the event loop is late, and single reads of one workspace are not', async () => {
    const { db } = openDatabase();
    const load = createLoopLoad(100);
    const own = createHeavyReads({ loopLoad: load }).of(db, 'one');
    for (const delayMs of [150, 150]) load.window(delayMs);
    await expect(own.slow(QUERY)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    load.window(50);
    expect(load.refused()).toBe('nothing');
  });
});

/** A database whose `query` ends when the test says so, with a speed for every statement. */
const openMeasured = (speed: 'fast' | 'slow' | 'unknown') => {
  const state = { speed };
  const reads: PromiseWithResolvers<readonly never[]>[] = [];
  const db = {
    query: () => {
      const read = Promise.withResolvers<readonly never[]>();
      reads.push(read);
      return read.promise;
    },
    slow: async () => [],
    speedOf: () => state.speed,
  } as ReadDatabase;
  return { db, reads, state };
};

describe('reads that are no searches', () => {
  test('of a slow statement are bounded as searches are', async () => {
    const { db, reads } = openMeasured('slow');
    const own = createHeavyReads().of(db, 'one');
    const sent = HEAVY_PER_WORKSPACE_MAX + WAITING_PER_WORKSPACE_MAX;
    const accepted = Array.from({ length: sent }, () => own.query(QUERY));
    await expect(own.query(QUERY)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    await settle();
    expect(reads).toHaveLength(HEAVY_PER_WORKSPACE_MAX);
    for (let done = 0; done < sent; done += 1) {
      reads[done]?.resolve([]);
      await settle();
    }
    expect(await Promise.all(accepted)).toHaveLength(sent);
  });

  test('of a statement not yet measured leave places to other workspaces, and none of 250 is refused', async () => {
    const { db, reads, state } = openMeasured('unknown');
    const heavy = createHeavyReads();
    const own = Array.from({ length: 250 }, () => heavy.of(db, 'one').query(QUERY));
    await settle();
    expect(reads).toHaveLength(2);
    const other = heavy.of(db, 'other').query(QUERY);
    await settle();
    expect(reads).toHaveLength(3);
    reads[2]?.resolve([]);
    expect(await other).toEqual([]);
    // Once the statement has proved fast, all that wait run at once.
    state.speed = 'fast';
    reads[0]?.resolve([]);
    await settle();
    expect(reads).toHaveLength(251);
    for (const { resolve } of reads) resolve([]);
    expect(await Promise.all(own)).toHaveLength(250);
  });

  test('that wait for a statement which proves slow are bounded as searches are', async () => {
    const { db, reads, state } = openMeasured('unknown');
    const own = createHeavyReads().of(db, 'one');
    const sent = Array.from({ length: 50 }, () => own.query(QUERY));
    const outcomes = Promise.allSettled(sent);
    await settle();
    state.speed = 'slow';
    for (let done = 0; done < reads.length; done += 1) {
      reads[done]?.resolve([]);
      await settle();
      await settle();
    }
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(50 - 2 - HEAVY_PER_WORKSPACE_MAX - WAITING_PER_WORKSPACE_MAX);
  });

  test('of a fast statement are not bounded as searches are', async () => {
    const { db, reads } = openMeasured('fast');
    const own = createHeavyReads().of(db, 'one');
    for (let count = 0; count < 100; count += 1) void own.query(QUERY);
    await settle();
    expect(reads).toHaveLength(100);
  });

  test('of a fast statement leave half of the connections to other workspaces, and none of 1,000 is refused', async () => {
    const { db, reads } = openMeasured('fast');
    const heavy = createHeavyReads();
    const own = Array.from({ length: 1_000 }, () => heavy.of(db, 'one').query(QUERY));
    await settle();
    expect(reads).toHaveLength(FAST_PER_WORKSPACE_MAX);
    const other = heavy.of(db, 'other').query(QUERY);
    await settle();
    expect(reads).toHaveLength(FAST_PER_WORKSPACE_MAX + 1);
    reads.at(-1)?.resolve([]);
    expect(await other).toEqual([]);
    for (let done = 0; done < reads.length; done += 1) {
      reads[done]?.resolve([]);
      await settle();
    }
    expect(await Promise.all(own)).toHaveLength(1_000);
  });

  test('of a fast statement that are too many at once are refused to their workspace alone', async () => {
    const { db, reads } = openMeasured('fast');
    const heavy = createHeavyReads();
    const own = Array.from({ length: 1_200 }, () => heavy.of(db, 'one').query(QUERY));
    const outcomes = Promise.allSettled(own);
    await expect(own.at(-1)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    const other = heavy.of(db, 'other').query(QUERY);
    await settle();
    reads.at(-1)?.resolve([]);
    expect(await other).toEqual([]);
    for (let done = 0; done < reads.length; done += 1) {
      reads[done]?.resolve([]);
      await settle();
    }
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(48);
  });
});
