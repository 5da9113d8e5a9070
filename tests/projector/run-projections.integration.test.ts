import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Counted, type CountingStack, openCountingStack } from './counting-projection.ts';

let stack: CountingStack;
beforeAll(async () => {
  stack = await openCountingStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

it('parks an event it cannot apply with the rest of its stream, without delaying others', async () => {
  await stack.count('left', 1, 13, 2);
  await stack.count('right', 4);
  const broken = stack.counter('broken', { fails: (by) => by === 13 });
  await using projector = stack.running([broken, stack.counter('sound')]);
  await projector.passed();
  await stack.count('left', 5);
  await stack.count('right', 6);
  await projector.passed();
  expect(await stack.totals('broken')).toEqual({ left: 1, right: 10 });
  expect(await stack.totals('sound')).toEqual({ left: 21, right: 10 });
  const { rows } = await stack.database.query(
    `select stream, type, error is not null as failed from projector.parked where projection = 'broken' order by position`,
  );
  expect(rows).toEqual([
    { stream: 'counted-left', type: 'Counted', failed: true },
    { stream: 'counted-left', type: 'Counted', failed: false },
    { stream: 'counted-left', type: 'Counted', failed: false },
  ]);
});

it('parks the event even if its stream name looks like a connection error', async () => {
  const names = ['socket', 'timeout', 'closed connection'];
  for (const name of names) await stack.count(name, 2, 13);
  await using projector = stack.running([stack.counter('named', { fails: (by) => by === 13 })]);
  await projector.passed();
  expect(await stack.totals('named')).toMatchObject(Object.fromEntries(names.map((name) => [name, 2])));
  const { rows } = await stack.database.query(
    `select count(*)::int as parked from projector.parked where projection = 'named' and stream like any($1)`,
    [names.map((name) => `counted-${name}`)],
  );
  expect(rows).toEqual([{ parked: names.length }]);
});

it('resumes from its checkpoint and applies no event twice', async () => {
  {
    await using projector = stack.running([stack.counter('sound')]);
    await projector.passed();
  }
  const before = await stack.totals('sound');
  await stack.count('right', 100);
  await using projector = stack.running([stack.counter('sound')]);
  await projector.passed();
  expect(await stack.totals('sound')).toEqual({ ...before, right: (before['right'] ?? 0) + 100 });
});

it('rebuilds a new version and swaps it in', async () => {
  const before = await stack.totals('sound');
  await using projector = stack.running([stack.counter('sound', { version: 2, factor: 10 })]);
  await expect
    .poll(
      async () =>
        (await stack.database.query(`select version from projector.projection where name = 'sound'`)).rows,
      {
        timeout: 60_000,
      },
    )
    .toEqual([{ version: 2 }]);
  await projector.passed();
  expect(await stack.totals('sound')).toEqual(
    Object.fromEntries(Object.entries(before).map(([name, total]) => [name, total * 10])),
  );
  await stack.count('left', 7);
  await projector.passed();
  expect((await stack.totals('sound'))['left']).toBe((before['left'] ?? 0) * 10 + 70);
});

it('keeps the old tables if the rebuild of a new version fails', async () => {
  const before = await stack.totals('sound');
  const folder = await mkdtemp(join(tmpdir(), 'projector-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const schema = pathToFileURL(join(folder, 'schema.sql'));
  await writeFile(
    schema,
    'create table counter (name text primary key, total bigint not null default 0);\n-- indexes\ncreate index on counter (missing);\n',
  );
  await using projector = stack.running([{ ...stack.counter('sound', { version: 3 }), schema }]);
  await expect
    .poll(
      async () =>
        (
          await stack.database.query(
            `select state, last_error from projector.projection where name = 'sound'`,
          )
        ).rows[0],
      {
        timeout: 60_000,
      },
    )
    .toMatchObject({ state: 'failed', last_error: expect.stringContaining('"missing" does not exist') });
  expect(await stack.totals('sound')).toEqual(before);
  expect(projector).toBeDefined();
});

it('has one owner at a time; a standby takes over', async () => {
  await using standby = await (async () => {
    await using owner = stack.running([stack.counter('owned')]);
    await owner.passed();
    const next = stack.running([stack.counter('owned')]);
    await stack.count('left', 1);
    await owner.passed();
    return next;
  })();
  await stack.count('left', 1);
  await standby.passed();
  const { rows } = await stack.database.query(
    `select sum(total)::int as sum from owned.counter where name = 'left'`,
  );
  let expected = 0;
  for await (const event of stack.eventStore.read<Counted>('counted-left')) expected += event.data.by;
  expect(rows).toEqual([{ sum: expected }]);
});
