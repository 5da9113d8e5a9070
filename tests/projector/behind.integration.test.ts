import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CountingStack, openCountingStack } from './counting-projection.ts';

/** A process that is killed within a large batch leaves some projections ahead; each has its own transaction. */

const APPENDS = 40;
/** More events of one append than a projection reads before the others are at the head of the log. */
const EVENTS = 300;

let stack: CountingStack;
beforeAll(async () => {
  stack = await openCountingStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Takes all events back from a projection, as if only the others had applied them. */
const leaveBehind = async (name: string, ahead: readonly string[]): Promise<void> => {
  const { database } = stack;
  await database.query(`truncate ${name}.counter`);
  await database.query('update projector.read_model set facts_applied = 0 where name = $1', [name]);
  await database.query(
    `insert into projector.behind (projection, part, position, epoch, state)
     select name, part, position, epoch, 'catching_up' from run.progress, unnest($1::text[]) name
     where kind = 'projections'`,
    [ahead],
  );
  await database.query(`update run.progress set position = 0 where kind = 'projections'`);
};

test('a projection that is behind all others catches up, while no further events arrive', async () => {
  const projections = ['first', 'second', 'third'].map((name) => stack.counter(name));
  for (let append = 0; append < APPENDS; append += 1)
    await stack.count('a', ...Array.from({ length: EVENTS }, () => 1));
  {
    await using before = stack.running(projections);
    await before.passed();
  }
  await leaveBehind('third', ['first', 'second']);
  await using after = stack.running(projections);
  await after.passed();
  const counted = { a: APPENDS * EVENTS };
  for (const { name } of projections) expect([name, await stack.totals(name)]).toEqual([name, counted]);
}, 120_000);
