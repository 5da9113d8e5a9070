import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '#platform/logger.ts';
import { requestRebuild } from '#services/ops/projections.ts';
import { retryParked, showParked } from '#services/ops/waiting-events.ts';
import { dropOneUnused } from '#services/projector/rebuild/swap-schema.ts';
import { type CountingStack, GATE, openCountingStack, WAIT } from './counting-projection.ts';

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

test('tables that cannot be dropped for another reason than readers are named in the log, and others are dropped', async () => {
  await using projector = stack.running(
    ['failing', 'expired'].map((name) => stack.counter(name)),
    log,
  );
  await projector.passed();
  await stack.database.query(
    `create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$`,
  );
  await stack.database.query(
    `create trigger refuse before delete on projector.replaced for each row when (old.name = 'failing') execute function public.refuse()`,
  );
  lines.length = 0;
  for (const name of ['failing', 'expired']) {
    await requestRebuild(stack.database, name, { from: 'start', by: 'test' });
    expect(await stack.built(name)).toMatchObject({ state: 'done' });
  }
  await stack.database.query(
    `update projector.replaced set replaced_at = now() - interval '25 hours' where name in ('failing', 'expired')`,
  );
  await expect.poll(() => stack.schemas('expired'), WAIT).toEqual(['expired']);
  const named = () => lines.filter((line) => line.includes('not now') && line.includes('"failing"'));
  await expect.poll(() => named().length, WAIT).toBeGreaterThanOrEqual(1);
  expect(await stack.schemas('failing')).toEqual(['failing', 'failing_old']);
  expect(lines.filter((line) => line.includes('interrupted'))).toEqual([]);
});

test('tables are dropped one at a time, and those that a reader holds keep none of the others', async () => {
  const names = ['held1', 'held2', 'held3'];
  {
    await using projector = stack.running(names.map((name) => stack.counter(name)));
    await projector.passed();
  }
  for (const name of names) {
    await stack.database.query(`create schema ${name}_dropped`);
    await stack.database.query(`create table ${name}_dropped.counter ()`);
  }
  const remaining = async () => (await stack.schemas('held')).filter((schema) => schema.endsWith('_dropped'));
  await using _ = await holding('select from held1_dropped.counter');
  const tried = new Set<string>();
  const left: number[] = [];
  while (await dropOneUnused(stack.database, log, tried)) left.push((await remaining()).length);
  // The round may contain schemas of other tests, too.
  expect(left.toSorted((one, other) => other - one)).toEqual(left);
  expect(new Set(left)).toEqual(new Set([3, 2, 1]));
  expect(await remaining()).toEqual(['held1_dropped']);
});

/** `when`: the event of the trigger, its table, and a condition on the row. */
const waitAt = async (gate: number, event: string, when: string): Promise<void> => {
  await stack.database.query(
    `create function public.wait_at_${gate}() returns trigger language plpgsql as
       $$ begin perform pg_advisory_xact_lock_shared(${gate}); return new; end $$`,
  );
  await stack.database.query(
    `create trigger wait_at_gate before update ${event} for each row when (${when}) execute function public.wait_at_${gate}()`,
  );
};

const waitingAt = async (gate: number): Promise<number> => {
  const { rows } = await stack.database.query<{ count: number }>(
    `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
     where d.datname = current_database() and l.locktype = 'advisory' and l.objid = $1 and not l.granted`,
    [gate],
  );
  return rows[0]?.count ?? 0;
};

test('a projection follows the log again when its job ends while another one is opened', async () => {
  const [ENDING, OPENING] = [GATE, GATE + 1];
  await stack.count('left', 1, 13);
  const names = ['ending', 'opening'] as const;
  await using projector = stack.running(
    names.map((name) => stack.counter(name, { fails: (by) => by === 13 })),
    log,
  );
  await projector.passed();
  await waitAt(ENDING, 'on projector.parked', `old.projection = 'ending' and new.asked is null`);
  await waitAt(OPENING, 'of prefixes on projector.read_model', `old.name = 'opening'`);
  await using endingGate = await stack.closeGate(ENDING);
  await using openingGate = await stack.closeGate(OPENING);
  lines.length = 0;
  await retryParked(stack.database, 'ending', null);
  await expect.poll(() => waitingAt(ENDING), WAIT).toBe(1);
  await retryParked(stack.database, 'opening', null);
  await expect.poll(() => waitingAt(OPENING), WAIT).toBe(1);
  await endingGate[Symbol.asyncDispose]();
  const failed = (name: string) =>
    lines.filter((line) => line.includes('retry of a parked event failed') && line.includes(`"${name}"`));
  await expect.poll(() => failed('ending').length, WAIT).toBe(1);
  await openingGate[Symbol.asyncDispose]();
  await stack.count('right', 2);
  for (const name of names)
    await expect.poll(() => stack.totals(name), WAIT).toMatchObject({ right: expect.any(Number) });
  await projector.passed();
  expect(await stack.totals('ending')).toEqual(await stack.totals('opening'));
  expect(lines.filter((line) => line.includes('interrupted'))).toEqual([]);
});
