import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '#platform/logger.ts';
import { requestRebuild } from '#services/ops/projections/builds.ts';
import { retryParked, showParked } from '#services/ops/projections/parked.ts';
import { type CountingStack, openCountingStack, WAIT } from './counting-projection.ts';

/** A retry of parked events, or a swap, that cannot have its tables. It concerns its projection alone. */

let stack: CountingStack;
const lines: string[] = [];
const log = createLog(
  'projector',
  'info',
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  }),
);
beforeAll(async () => {
  stack = await openCountingStack();
  // The position of the first event may be 0, which projections without tables have passed.
  await stack.count('first', 1, 1);
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Runs a statement in a transaction that stays open until disposed of. */
const holding = async (statement: string): Promise<AsyncDisposable> => {
  const client = await stack.database.connect();
  await client.query('begin');
  await client.query(statement);
  return {
    [Symbol.asyncDispose]: async () => {
      await client.query('rollback');
      client.release();
    },
  };
};

test('a retry of parked events is postponed while their table is locked, without a restart', async () => {
  await stack.count('left', 1, 13);
  {
    await using broken = stack.running([stack.counter('parking', { fails: (by) => by === 13 })]);
    await broken.passed();
  }
  await using projector = stack.running([stack.counter('parking'), stack.counter('other')], log);
  await projector.passed();
  lines.length = 0;
  {
    await using lock = await holding('lock table parking.counter in access exclusive mode');
    await retryParked(stack.database, 'parking', null);
    const shown = () => showParked(stack.database, stack.eventStore, 'parking', 'counted-left');
    await expect.poll(async () => (await shown()).attempts, WAIT).toBeGreaterThanOrEqual(3);
    expect(await shown()).toMatchObject({
      asked: 'retry',
      error: expect.stringContaining('lock timeout'),
    });
    await stack.count('right', 2);
    await projector.passed(['other']);
    expect(lock).toBeDefined();
  }
  await expect.poll(async () => (await stack.statusOf('parking')).parked, WAIT).toBe(0);
  await projector.passed();
  expect(await stack.totals('parking')).toEqual({ first: 2, left: 14, right: 2 });
  expect(lines.filter((line) => line.includes('interrupted'))).toEqual([]);
});

test('a rebuild is swapped in while a reader holds the tables that an earlier one replaced', async () => {
  await using projector = stack.running([stack.counter('swapped'), stack.counter('other')], log);
  await stack.count('early', 1);
  await projector.passed();
  await requestRebuild(stack.database, 'swapped', { from: 'start', by: 'test' });
  expect(await stack.built('swapped')).toMatchObject({ state: 'done' });
  lines.length = 0;
  {
    await using reader = await holding('select from swapped_old.counter');
    await requestRebuild(stack.database, 'swapped', { from: 'start', by: 'test' });
    expect(await stack.built('swapped')).toMatchObject({ state: 'done' });
    await stack.count('more', 1);
    await projector.passed();
    expect(await stack.schemas('swapped')).toEqual(['swapped', 'swapped_dropped', 'swapped_old']);
    expect(reader).toBeDefined();
  }
  await expect.poll(() => stack.schemas('swapped'), WAIT).toEqual(['swapped', 'swapped_old']);
  expect(await stack.totals('swapped')).toEqual(await stack.totals('other'));
  expect(lines.filter((line) => line.includes('interrupted'))).toEqual([]);
});

test('a third swap waits for such a reader, and the others go on', async () => {
  await using projector = stack.running([stack.counter('thrice'), stack.counter('other')], log);
  const rebuild = async () => {
    await requestRebuild(stack.database, 'thrice', { from: 'start', by: 'test' });
    expect(await stack.built('thrice')).toMatchObject({ state: 'done' });
  };
  await stack.count('early', 1);
  await projector.passed();
  await rebuild();
  lines.length = 0;
  {
    await using reader = await holding('select from thrice_old.counter');
    await rebuild();
    await requestRebuild(stack.database, 'thrice', { from: 'start', by: 'test' });
    await expect
      .poll(() => lines.filter((line) => line.includes('rebuild interrupted')).length, WAIT)
      .toBeGreaterThanOrEqual(1);
    await stack.count('late', 1);
    await projector.passed();
    expect(reader).toBeDefined();
  }
  expect(await stack.built('thrice')).toMatchObject({ state: 'done' });
  expect(lines.filter((line) => line.includes('projecting interrupted'))).toEqual([]);
});
