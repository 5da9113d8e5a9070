import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLog, silentLog } from '#platform/logger.ts';
import { openLeases } from '#platform/postgres/lease/leases.ts';
import type { Projection } from '#projections/define-projection.ts';
import { cancelRebuild, readBuild, readDiff, requestRebuild } from '#services/ops/projections.ts';
import { retryParked } from '#services/ops/waiting-events.ts';
import { type Control, readControl } from '#services/projector/control/operator-requests.ts';
import { createRebuildManager } from '#services/projector/rebuild/rebuild-manager.ts';
import { createSharedReader } from '#services/projector/rebuild/shared-read.ts';
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

test('rebuilds while the live tables are served and projected, and repairs a changed row', async () => {
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
      /already running/,
    );
    await gate[Symbol.asyncDispose]();
  }
  expect(await stack.built(name)).toMatchObject({ state: 'done', error: null });
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(3);
  expect(await stack.schemas(name)).toEqual([name, `${name}_old`]);
  expect(await stack.verified(name)).toMatchObject({ state: 'passed' });
  expect(await stack.schemas(name), 'the swap is proven').toEqual([name]);
});

test('does not begin again when its swap ends after the requests were read', async () => {
  await stack.count(name, 1);
  const counter = stack.counter(name);
  {
    await using projector = stack.running([counter]);
    await projector.passed();
    await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
    expect(await stack.built(name)).toMatchObject({ state: 'done' });
  }
  const { database, eventStore, databaseUrl } = stack;
  const stopping = new AbortController();
  await using leases = await openLeases(databaseUrl);
  const manager = createRebuildManager(
    {
      database,
      requests: database,
      building: { database, close: () => Promise.resolve() },
      leases,
      projections: [counter],
      log: silentLog(),
      signal: stopping.signal,
    },
    createSharedReader(eventStore),
    () => undefined,
  );
  const row = (await readControl(database)).get(name) as Control;
  const read: Control = { ...row, build: { version: 1, state: 'ready', isCancelled: false } };
  await manager.reconcile(new Map([[name, read]]), new Set([name]));
  await expect.poll(() => manager.ready(), { ...WAIT, timeout: 3_000 }).toEqual([]);
  expect(await readBuild(database, name)).toMatchObject({ state: 'done' });
  expect(await stack.schemas(name)).toEqual([name, `${name}_old`]);
  stopping.abort();
  await manager[Symbol.asyncDispose]();
});

test('leaves the live tables unchanged when a rebuild is cancelled', async () => {
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
  expect(await stack.built(name)).toMatchObject({ state: 'cancelled' });
  expect(await stack.schemas(name)).toEqual([name]);
  await stack.count(name, 2);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(3);
  expect((await stack.statusOf(name)).state).toBe('live');
});

test('parks in a rebuild an event that cannot be applied, with the rest of its stream', async () => {
  await stack.count(name, 1, 77);
  await stack.count(`${name}other`, 3);
  {
    await using projector = stack.running([stack.counter(name)]);
    await projector.passed();
    expect(await stack.statusOf(name)).toMatchObject({ state: 'live', parked: 0 });
  }
  {
    await using projector = stack.running([
      stack.counter(name, { version: 2, factor: 10, fails: (by) => by === 77 }),
    ]);
    await expect.poll(async () => (await stack.statusOf(name)).version, WAIT).toBe(2);
    await stack.count(name, 5);
    await projector.passed();
    expect(await stack.statusOf(name)).toMatchObject({ state: 'live', parked: 2 });
    expect(await stack.totals(name)).toMatchObject({ [name]: 10, [`${name}other`]: 30 });
    expect(await stack.verified(name)).toMatchObject({ state: 'passed' });
    await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
    expect(await stack.built(name)).toMatchObject({ state: 'done', error: null });
    expect(await stack.statusOf(name)).toMatchObject({ parked: 2 });
  }
  await using projector = stack.running([stack.counter(name, { version: 2, factor: 10 })]);
  await projector.passed();
  await retryParked(stack.database, name, null);
  await expect.poll(async () => (await stack.statusOf(name)).parked, WAIT).toBe(0);
  expect((await stack.totals(name))[name]).toBe(830);
  expect(await stack.verified(name)).toMatchObject({ state: 'passed' });
});

test('keeps projecting the old version during a rolling deploy until the new one is rebuilt', async () => {
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
  await expect.poll(async () => (await stack.statusOf(name)).version, WAIT).toBe(2);
  await stack.count(name, 3);
  await newer.passed();
  await older.passed([`${name}b`]);
  expect((await stack.totals(name))[name]).toBe(60);
  expect((await stack.totals(`${name}b`))[name]).toBe(6);
});

test('rebuilds a new version while the old tables are served, without delaying other projections', async () => {
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
  await expect
    .poll(() => stack.statusOf(name, [changed]), WAIT)
    .toMatchObject({ state: 'building', version: 1, code_version: 2 });
  await gate[Symbol.asyncDispose]();
  await expect.poll(async () => (await stack.statusOf(name)).version, WAIT).toBe(2);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(30);
});

test('hands a projection and its pending request over to the standby projector', async () => {
  await stack.count(name, 1);
  const owner = stack.running([stack.counter(name)]);
  await owner.passed();
  await using standby = stack.running([stack.counter(name)]);
  expect((await stack.statusOf(name)).owner).not.toBeNull();
  await owner[Symbol.asyncDispose]();
  await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
  expect(await stack.built(name)).toMatchObject({ state: 'done' });
  await stack.count(name, 2);
  await standby.passed();
  expect((await stack.totals(name))[name]).toBe(3);
});

test('fills a new read model of a long log by a rebuild, and parks in it what cannot be applied', async () => {
  await stack.count(name, 1, 88);
  await stack.lengthen(17 * 1024 * 1024);
  await using projector = stack.running([
    stack.counter(name),
    stack.counter(`${name}b`, { fails: (by) => by === 88 }),
  ]);
  await projector.passed();
  for (const one of [name, `${name}b`])
    expect(await readBuild(stack.database, one)).toMatchObject({ state: 'done' });
  expect((await stack.totals(name))[name]).toBe(89);
  expect((await stack.totals(`${name}b`))[name]).toBe(1);
  expect(await stack.statusOf(`${name}b`)).toMatchObject({ state: 'live', version: 1, parked: 1 });
});

test('reports how the tables differ from the code', async () => {
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

test('attempts an interrupted rebuild again after delays that double, until nothing interrupts it', async () => {
  await stack.count(name, 1);
  {
    await using projector = stack.running([stack.counter(name)]);
    await projector.passed();
  }
  const changed = stack.counter(name, { version: 2, factor: 10 });
  const { schema } = changed;
  let isInterrupting = true;
  Object.defineProperty(changed, 'schema', {
    get: () => {
      if (isInterrupting) throw new Error('a cause without an SQL state');
      return schema;
    },
  });
  const lines: { readonly msg: string; readonly retry_ms?: number; readonly atMs: number }[] = [];
  const log = createLog('projector', 'info', {
    write: (line) => void lines.push({ ...JSON.parse(line), atMs: performance.now() }),
  });
  const named = (msg: string) => lines.filter((line) => line.msg === msg);
  const interruptions = () => named('rebuild interrupted; to be resumed');
  await using projector = stack.running([changed], log);
  await expect.poll(() => interruptions().length, WAIT).toBeGreaterThanOrEqual(3);
  isInterrupting = false;
  await expect.poll(async () => (await stack.statusOf(name)).version, WAIT).toBe(2);
  await projector.passed();
  expect((await stack.totals(name))[name]).toBe(10);
  const delays = interruptions().map(({ retry_ms }) => retry_ms);
  expect(delays.slice(0, 3)).toEqual([1_000, 2_000, 4_000]);
  const starts = named('rebuild started');
  for (const [index, { atMs, retry_ms = Number.NaN }] of interruptions().entries()) {
    const next = starts[index + 1] as { readonly atMs: number };
    expect(next.atMs - atMs, 'not before it is due').toBeGreaterThan(retry_ms - 10);
  }
});
