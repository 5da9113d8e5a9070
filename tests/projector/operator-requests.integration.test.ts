import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pino } from 'pino';
import { SCHEMA_REGISTRY, type SchemaRegistry } from '#contracts/events/schema-registry.ts';
import {
  cancelRebuild,
  pauseProjection,
  requestRebuild,
  resumeProjection,
} from '#services/ops/projections.ts';
import { listParked, retryParked, showParked, skipParked } from '#services/ops/waiting-events.ts';
import { sampleProjections } from '#services/projector/control/stall-detector.ts';
import { type CountingStack, openCountingStack, WAIT } from './counting-projection.ts';

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

test('parks an event that breaks a projection, and applies it once the code is fixed', async () => {
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
    expect(await stack.statusOf(name)).toMatchObject({
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
    // The code is not fixed yet: the event fails again, and the later ones keep waiting.
    await retryParked(stack.database, name, [stream]);
    await expect
      .poll(async () => (await showParked(stack.database, stack.eventStore, name, stream)).attempts, WAIT)
      .toBe(2);
  }
  await using projector = stack.running([stack.counter(name)]);
  await projector.passed();
  await retryParked(stack.database, name, null);
  await expect.poll(async () => (await stack.statusOf(name)).parked, WAIT).toBe(0);
  expect((await stack.totals(name))[name]).toBe(20);
  expect(await stack.verified(name)).toMatchObject({ state: 'passed' });
  await stack.count(name, 5);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(25);
});

test('excludes a skipped event for good, also from rebuilds and verifications', async () => {
  await stack.count(name, 1, 31, 2);
  await using projector = stack.running([stack.counter(name, { fails: (by) => by === 31 })]);
  await projector.passed();
  await skipParked(stack.database, name, `counted-${name}`);
  await expect.poll(async () => (await stack.statusOf(name)).parked, WAIT).toBe(0);
  expect(await stack.statusOf(name)).toMatchObject({ skipped: 1, lag_facts: 0 });
  expect((await stack.totals(name))[name]).toBe(3);
  await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
  expect(await stack.built(name)).toMatchObject({ state: 'done' });
  expect((await stack.totals(name))[name]).toBe(3);
  expect(await stack.verified(name)).toMatchObject({ state: 'passed', report: { left_out: 1 } });
});

test('reports a changed, an extra and a missing row when verifying', async () => {
  await stack.count(`${name}-a`, 1);
  await stack.count(`${name}-b`, 2);
  await using projector = stack.running([stack.counter(name)]);
  await projector.passed();
  expect(await stack.verified(name)).toMatchObject({ state: 'passed', report: { left_out: 0 } });
  await stack.database.query(`update ${name}.counter set total = total + 1 where name = '${name}-a'`);
  await stack.database.query(`delete from ${name}.counter where name = '${name}-b'`);
  await stack.database.query(`insert into ${name}.counter (name) values ('${name}-c')`);
  const { state, report } = await stack.verified(name);
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
  expect(await stack.schemas(name)).toEqual([name]);
});

test('stops a paused projection while others continue, and catches up once it is resumed', async () => {
  await using projector = stack.running([stack.counter(name), stack.counter(`${name}b`)]);
  await stack.count(name, 1);
  await projector.passed();
  await pauseProjection(stack.database, name);
  await expect.poll(async () => (await stack.statusOf(name)).state, WAIT).toBe('paused');
  // The status shows the wish of the operator. This row shows that the projector follows it.
  const followed = () =>
    stack.database.query("select from projector.behind where projection = $1 and state = 'paused'", [name]);
  await expect.poll(async () => (await followed()).rows.length, WAIT).toBe(1);
  await stack.count(name, 2, 3);
  await projector.passed([`${name}b`]);
  await expect.poll(async () => (await stack.statusOf(name)).lag_facts, WAIT).toBe(2);
  const { lag_seconds } = await stack.statusOf(name);
  expect(lag_seconds).toBeGreaterThan(0);
  expect((await stack.totals(`${name}b`))[name]).toBe(6);
  await resumeProjection(stack.database, name);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(6);
  await expect.poll(async () => (await stack.statusOf(name)).lag_facts, WAIT).toBe(0);
});

test('pauses a projection at a position for a verification, and resumes it', async () => {
  await using projector = stack.running([stack.counter(name)]);
  await stack.count(name, 1);
  await projector.passed();
  const { position } = await stack.statusOf(name);
  await stack.count(name, 2);
  await projector.passed();
  expect(await stack.verified(name, BigInt(position))).toMatchObject({
    state: 'failed',
    error: expect.stringMatching(/is at position \d+, already after/),
  });
  await pauseProjection(stack.database, name);
  const { position: held } = await stack.statusOf(name);
  expect(await stack.verified(name, BigInt(held))).toMatchObject({
    state: 'passed',
    report: { position: held },
  });
});

test('reports a stalled projection until it moves again', async () => {
  const logged: { level: number; msg: string; projection: string }[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
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
      await sampleProjections(stack.database, log, 0);
      return (await stack.statusOf(name)).standing_since;
    }, WAIT)
    .not.toBeNull();
  expect(logged).toContainEqual(
    expect.objectContaining({
      level: 50,
      projection: name,
      msg: 'projection stalled',
    }),
  );
  await gate[Symbol.asyncDispose]();
  await projector.passed();
  await sampleProjections(stack.database, log, 0);
  expect((await stack.statusOf(name)).standing_since).toBeNull();
});

test('keeps samples for an hour, and the last one without lag for longer', async () => {
  const sampled = `${name}_sampled`;
  await using projector = stack.running([stack.counter(name)]);
  await projector.passed();
  await stack.database.query(
    `insert into projector.sample (at, name, position, facts_applied, lag_facts)
     select now() - make_interval(mins => minutes), $1, 0, 0, lag from (values (180, 0), (120, 0), (90, 5), (30, 7)) i(minutes, lag)`,
    [sampled],
  );
  await sampleProjections(stack.database, pino({ level: 'silent' }), 0);
  const { rows } = await stack.database.query<{ minutes: number; lag: number }>(
    `select round(extract(epoch from now() - at) / 60)::int as minutes, lag_facts::int as lag
     from projector.sample where name = $1 order by at`,
    [sampled],
  );
  expect(rows).toEqual([
    { minutes: 120, lag: 0 },
    { minutes: 30, lag: 7 },
  ]);
});

test('shows no owner for a projection whose projector has stopped', async () => {
  {
    await using projector = stack.running([stack.counter(name)]);
    await projector.passed();
  }
  await expect.poll(async () => (await stack.statusOf(name)).owner, WAIT).toBeNull();
  await expect(stack.statusOf('nonsense')).rejects.toThrow('Projection nonsense not found.');
  await expect(cancelRebuild(stack.database, name)).rejects.toThrow(/No rebuild/);
});

describe('an event of a newer release', () => {
  const registry = SCHEMA_REGISTRY as Record<string, SchemaRegistry[string]>;
  /** The newer release knows version 2 of `Counted`, which counts in tens; the older release knows version 1. */
  const NEWER: SchemaRegistry[string] = {
    Counted: [(data) => ({ ...data, by: Number(data['by']) * 10 })],
  };
  const OLDER: SchemaRegistry[string] = { Counted: [] };
  afterEach(() => {
    delete registry['counted'];
  });

  test('makes its stream wait for that release in each projection, which then continues by itself', async () => {
    const stream = `counted-${name}`;
    registry['counted'] = OLDER;
    await stack.count(name, 1);
    registry['counted'] = NEWER;
    await stack.count(name, 2, 3);
    registry['counted'] = OLDER;
    {
      await using older = stack.running([stack.counter(name)]);
      await older.passed();
      await stack.count(`${name}other`, 7);
      await older.passed();
      expect(await stack.totals(name)).toMatchObject({ [name]: 1, [`${name}other`]: 7 });
      const page = { projection: name, stream, limit: 10, after: null };
      expect(await listParked(stack.database, page)).toMatchObject([
        {
          stream,
          type: 'Counted',
          waits_for_release: true,
          waiting: 1,
          error: expect.stringContaining('version 2'),
        },
      ]);
      // The retry of an operator changes nothing: the release is still the older one.
      await retryParked(stack.database, name, [stream]);
      await expect
        .poll(async () => (await listParked(stack.database, page))[0], WAIT)
        .toMatchObject({ attempts: 2, waits_for_release: true });
    }
    registry['counted'] = NEWER;
    await using newer = stack.running([stack.counter(name)]);
    await expect.poll(async () => (await stack.statusOf(name)).parked, WAIT).toBe(0);
    await newer.passed();
    // Events of version 1 are read as version 2 from now on; what was applied before stays as it was.
    expect(await stack.totals(name)).toMatchObject({ [name]: 6 });
  });

  test('is parked in a rebuild too', async () => {
    registry['counted'] = OLDER;
    await stack.count(name, 1);
    {
      await using before = stack.running([stack.counter(name)]);
      await before.passed();
    }
    // The older release does not run meanwhile: in this process it would read the event with the newer one's registry.
    registry['counted'] = NEWER;
    await stack.count(name, 2);
    registry['counted'] = OLDER;
    await using projector = stack.running([stack.counter(name)]);
    await projector.passed();
    await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
    expect(await stack.built(name)).toMatchObject({ state: 'done' });
    expect((await stack.totals(name))[name]).toBe(1);
    const stream = `counted-${name}`;
    expect(
      await listParked(stack.database, { projection: name, stream, limit: 10, after: null }),
    ).toMatchObject([{ stream, waits_for_release: true, error: expect.stringContaining('version 2') }]);
  });
});
