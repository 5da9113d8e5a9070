import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pino } from 'pino';
import type { Projection } from '#projections/projection.ts';
import {
  cancelRebuild,
  pauseProjection,
  readBuild,
  requestRebuild,
  resumeProjection,
  watchBuild,
} from '#services/ops/projections/builds.ts';
import { readDiff } from '#services/ops/projections/diff.ts';
import { listParked, retryParked, showParked, skipParked } from '#services/ops/projections/parked.ts';
import { readStatus } from '#services/ops/projections/status.ts';
import { requestVerification, watchVerification } from '#services/ops/projections/verification.ts';
import { watchProjections } from '#services/projector/watchdog.ts';
import { type CountingStack, openCountingStack } from './counting.ts';

/** What operators do to projections, by what the command line and the operators' HTTP call. */

const WAIT = { timeout: 20_000, interval: 20 } as const;

let stack: CountingStack;
beforeAll(async () => {
  stack = await openCountingStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

let stories = 0;
let name: string;
beforeEach(() => {
  stories += 1;
  name = `story${stories}`;
});

const statusOf = async (of: string, projections: readonly Projection[] = []) => {
  const [status] = await readStatus(stack.database, stack.eventStore, projections, of);
  if (!status) throw new Error(`no status of ${of}`);
  return status;
};
const verified = async (of: string, to: bigint | null = null) => {
  await requestVerification(stack.database, of, { to, by: 'test' });
  const verification = await watchVerification(
    stack.database,
    of,
    () => undefined,
    AbortSignal.timeout(20_000),
  );
  if (!verification) throw new Error(`no verification of ${of}`);
  return verification;
};
const built = (of: string) => watchBuild(stack.database, of, () => undefined, AbortSignal.timeout(20_000));
const schemas = async (of: string): Promise<readonly string[]> => {
  const { rows } = await stack.database.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname like $1 order by 1`,
    [`${of}%`],
  );
  return rows.map((row) => row.name);
};

test('a fact that breaks a projection is parked, and healed once the code is mended', async () => {
  const stream = `counted-${name}`;
  await stack.count(name, 1, 13, 2);
  {
    await using projector = stack.running([
      stack.counter(name, { fails: (by) => by === 13 }),
      stack.counter(`${name}b`),
    ]);
    await projector.passed();
    await stack.count(name, 4);
    await projector.passed();
    expect((await stack.totals(`${name}b`))[name]).toBe(20);
    expect(await statusOf(name)).toMatchObject({
      parked: 3,
      lag_facts: 0,
      state: 'live',
      last_error: expect.stringContaining('cannot count 13'),
    });
    expect(
      await listParked(stack.database, { projection: name, stream: null, limit: 10, after: null }),
    ).toMatchObject([
      { stream, type: 'Counted', waiting: 2, attempts: 1, error: expect.stringContaining('cannot count 13') },
    ]);
    expect((await showParked(stack.database, stack.eventStore, name, stream)).fact?.data).toEqual({
      name,
      by: 13,
    });
    // Not mended yet: it fails again, and what waits goes on waiting.
    await retryParked(stack.database, name, [stream]);
    await expect
      .poll(async () => (await showParked(stack.database, stack.eventStore, name, stream)).attempts, WAIT)
      .toBe(2);
  }
  await using projector = stack.running([stack.counter(name)]);
  await projector.passed();
  await retryParked(stack.database, name, null);
  await expect.poll(async () => (await statusOf(name)).parked, WAIT).toBe(0);
  expect((await stack.totals(name))[name]).toBe(20);
  expect(await verified(name)).toMatchObject({ state: 'passed' });
  await stack.count(name, 5);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(25);
});

test('a fact that is given up is left out for good, also by rebuild and verify', async () => {
  await stack.count(name, 1, 31, 2);
  await using projector = stack.running([stack.counter(name, { fails: (by) => by === 31 })]);
  await projector.passed();
  await skipParked(stack.database, name, `counted-${name}`);
  await expect.poll(async () => (await statusOf(name)).parked, WAIT).toBe(0);
  expect(await statusOf(name)).toMatchObject({ skipped: 1, lag_facts: 0 });
  expect((await stack.totals(name))[name]).toBe(3);
  await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
  expect(await built(name)).toMatchObject({ state: 'done' });
  expect((await stack.totals(name))[name]).toBe(3);
  expect(await verified(name)).toMatchObject({ state: 'passed', report: { left_out: 1 } });
});

test('a tampered row, one too many and one that is missing are named by verify', async () => {
  await stack.count(`${name}-a`, 1);
  await stack.count(`${name}-b`, 2);
  await using projector = stack.running([stack.counter(name)]);
  await projector.passed();
  expect(await verified(name)).toMatchObject({ state: 'passed', report: { left_out: 0 } });
  await stack.database.query(`update ${name}.counter set total = total + 1 where name = '${name}-a'`);
  await stack.database.query(`delete from ${name}.counter where name = '${name}-b'`);
  await stack.database.query(`insert into ${name}.counter (name) values ('${name}-c')`);
  const { state, report } = await verified(name);
  expect(state).toBe('differs');
  expect(report?.tables).toMatchObject([
    {
      table: 'counter',
      is_equal: false,
      first_keys: [
        { key: { name: `${name}-a` }, only_in: null, columns: ['total'] },
        { key: { name: `${name}-b` }, only_in: 'replayed' },
        { key: { name: `${name}-c` }, only_in: 'live' },
      ],
    },
  ]);
  expect(await schemas(name)).toEqual([name]);
});

test('a rebuild goes on beside, the live tables with it, and heals what was tampered with', async () => {
  await stack.count(name, 1);
  await using projector = stack.running([stack.counter(name, { waitsIn: '_next' })]);
  await projector.passed();
  await stack.database.query(`update ${name}.counter set total = 99 where name = $1`, [name]);
  {
    await using gate = await stack.closeGate();
    await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
    await expect.poll(async () => (await readBuild(stack.database, name))?.state, WAIT).toBe('reading');
    await stack.count(name, 2);
    await projector.passed();
    expect((await stack.totals(name))[name]).toBe(101);
    await expect(requestRebuild(stack.database, name, { from: 'start', by: 'test' })).rejects.toThrow(
      /under way/,
    );
    await gate[Symbol.asyncDispose]();
  }
  expect(await built(name)).toMatchObject({ state: 'done', error: null });
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(3);
  expect(await schemas(name)).toEqual([name, `${name}_old`]);
  expect(await verified(name)).toMatchObject({ state: 'passed' });
  expect(await schemas(name), 'the swap is proven').toEqual([name]);
});

test('a cancelled rebuild leaves the live tables as they were', async () => {
  await stack.count(name, 1);
  await using projector = stack.running([stack.counter(name, { waitsIn: '_next' })]);
  await projector.passed();
  {
    await using gate = await stack.closeGate();
    await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
    await expect.poll(async () => (await readBuild(stack.database, name))?.state, WAIT).toBe('reading');
    await cancelRebuild(stack.database, name);
    await gate[Symbol.asyncDispose]();
  }
  expect(await built(name)).toMatchObject({ state: 'cancelled' });
  expect(await schemas(name)).toEqual([name]);
  await stack.count(name, 2);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(3);
  expect((await statusOf(name)).state).toBe('live');
});

test('a rebuild stops at a fact that cannot be applied, and names it; mended, it goes on', async () => {
  await stack.count(name, 1);
  {
    await using projector = stack.running([stack.counter(name)]);
    await projector.passed();
  }
  await stack.count(name, 77, 5);
  {
    await using projector = stack.running([stack.counter(name, { fails: (by) => by === 77 })]);
    await projector.passed();
    await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
    expect(await built(name)).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(new RegExp(`Counted at \\d+ in counted-${name}: cannot count 77`)),
    });
    expect(await statusOf(name)).toMatchObject({ state: 'live', parked: 2 });
  }
  await using projector = stack.running([stack.counter(name)]);
  await projector.passed();
  await requestRebuild(stack.database, name, { from: 'checkpoint', by: 'test' });
  expect(await built(name)).toMatchObject({ state: 'done' });
  expect(await statusOf(name)).toMatchObject({ parked: 0 });
  expect(await verified(name)).toMatchObject({ state: 'passed' });
});

test('while a deploy rolls, the old version projects on until the new one is built', async () => {
  await stack.count(name, 1);
  await using older = stack.running([stack.counter(name), stack.counter(`${name}b`)]);
  await older.passed();
  const gate = await stack.closeGate();
  await using newer = stack.running([stack.counter(name, { version: 2, factor: 10, waitsIn: '_next' })]);
  await expect.poll(async () => (await readBuild(stack.database, name))?.state, WAIT).toBe('reading');
  await stack.count(name, 2);
  await older.passed();
  expect((await stack.totals(name))[name]).toBe(3);
  await gate[Symbol.asyncDispose]();
  await expect.poll(async () => (await statusOf(name)).version, WAIT).toBe(2);
  await stack.count(name, 3);
  await newer.passed();
  await older.passed([`${name}b`]);
  expect((await stack.totals(name))[name]).toBe(60);
  expect((await stack.totals(`${name}b`))[name]).toBe(6);
});

test('a changed version is built while the old tables serve, and no other projection waits for it', async () => {
  await stack.count(name, 1);
  {
    await using projector = stack.running([stack.counter(name), stack.counter(`${name}b`)]);
    await projector.passed();
  }
  await using gate = await stack.closeGate();
  const changed = stack.counter(name, { version: 2, factor: 10, waitsIn: '_next' });
  await using projector = stack.running([changed, stack.counter(`${name}b`), stack.counter(`${name}new`)]);
  await stack.count(name, 2);
  await projector.passed([`${name}b`, `${name}new`]);
  expect((await stack.totals(name))[name]).toBe(1);
  expect(await statusOf(name, [changed])).toMatchObject({ state: 'building', version: 1, code_version: 2 });
  await gate[Symbol.asyncDispose]();
  await expect.poll(async () => (await statusOf(name)).version, WAIT).toBe(2);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(30);
});

test('a paused projection stands still, others go on, and it catches up when it is resumed', async () => {
  await using projector = stack.running([stack.counter(name), stack.counter(`${name}b`)]);
  await stack.count(name, 1);
  await projector.passed();
  await pauseProjection(stack.database, name);
  await expect.poll(async () => (await statusOf(name)).state, WAIT).toBe('paused');
  // The turn in which it was told to pause has ended when the next fact reaches the other alone.
  await stack.count(name, 2, 3);
  await projector.passed([`${name}b`]);
  await expect.poll(async () => (await statusOf(name)).lag_facts, WAIT).toBeGreaterThan(0);
  const { lag_facts, lag_seconds } = await statusOf(name);
  expect(lag_facts).toBeLessThanOrEqual(2);
  expect(lag_seconds).toBeGreaterThan(0);
  expect((await stack.totals(`${name}b`))[name]).toBe(6);
  await resumeProjection(stack.database, name);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(6);
  await expect.poll(async () => (await statusOf(name)).lag_facts, WAIT).toBe(0);
});

test('verify holds a projection at a position, and lets it go on', async () => {
  await using projector = stack.running([stack.counter(name)]);
  await stack.count(name, 1);
  await projector.passed();
  const { position } = await statusOf(name);
  await stack.count(name, 2);
  await projector.passed();
  expect(await verified(name, BigInt(position))).toMatchObject({
    state: 'failed',
    error: expect.stringMatching(/stands at \d+ already/),
  });
  await pauseProjection(stack.database, name);
  const { position: held } = await statusOf(name);
  expect(await verified(name, BigInt(held))).toMatchObject({ state: 'passed', report: { position: held } });
});

test('a projection that stands still while the log moves is reported, until it moves', async () => {
  const told: { level: number; msg: string; projection: string }[] = [];
  const log = pino({}, { write: (line: string) => void told.push(JSON.parse(line)) });
  await using projector = stack.running([
    stack.counter(name, { waitsIn: 'live' }),
    stack.counter(`${name}b`),
  ]);
  await stack.count(name, 1);
  await projector.passed();
  await using gate = await stack.closeGate();
  await stack.count(name, 2);
  await stack.database.query('delete from projector.sample');
  await expect
    .poll(async () => {
      await watchProjections(stack.database, log, 0);
      return (await statusOf(name)).standing_since;
    }, WAIT)
    .not.toBeNull();
  expect(told).toContainEqual(
    expect.objectContaining({
      level: 50,
      projection: name,
      msg: 'projection stands still while the log moves',
    }),
  );
  await gate[Symbol.asyncDispose]();
  await projector.passed();
  await watchProjections(stack.database, log, 0);
  expect((await statusOf(name)).standing_since).toBeNull();
});

test('two projectors: one owns, and the other takes over with what was asked', async () => {
  await stack.count(name, 1);
  const owner = stack.running([stack.counter(name)]);
  await owner.passed();
  await using standby = stack.running([stack.counter(name)]);
  expect((await statusOf(name)).owner).not.toBeNull();
  await owner[Symbol.asyncDispose]();
  await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
  expect(await built(name)).toMatchObject({ state: 'done' });
  await stack.count(name, 2);
  await standby.passed();
  expect((await stack.totals(name))[name]).toBe(3);
});

test('nobody owns a projection whose projector is gone', async () => {
  {
    await using projector = stack.running([stack.counter(name)]);
    await projector.passed();
  }
  await expect.poll(async () => (await statusOf(name)).owner, WAIT).toBeNull();
  await expect(statusOf('nonsense')).rejects.toThrow('There is no projection nonsense.');
  await expect(cancelRebuild(stack.database, name)).rejects.toThrow(/No build/);
});

test('diff says what the tables are against the code', async () => {
  const projections = [stack.counter(name), stack.counter(`${name}b`, { version: 2 })];
  {
    await using projector = stack.running([...projections, stack.counter(`${name}c`)]);
    await projector.passed();
  }
  const difference = async (code: readonly Projection[]) =>
    (await readDiff(stack.database, code))
      .filter((row) => row.name.startsWith(name))
      .map((row) => `${row.name.slice(name.length)} ${row.difference}`);
  expect(await difference([...projections, stack.counter(`${name}d`)])).toEqual([
    ' same',
    'b same',
    'c orphaned',
    'd missing',
  ]);
  expect(
    await difference([
      stack.counter(name, { version: 2 }),
      stack.counter(`${name}b`),
      { ...stack.counter(`${name}c`), prefixes: ['other-'] },
    ]),
  ).toEqual([' changed', 'b newer', 'c unversioned']);
});
