import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from '#platform/logger.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openCountingStack } from './counting-projection.ts';

const OTHERS = ['calm', 'even', 'still'] as const;
const SLOW = 'slow';
/** Seconds of each of its statements: more than a statement has in a group, less than it has alone. */
const SLOW_SECONDS = 4;
const ROUNDS = 3;
/** Longer than the rounds, which it must outlast. */
const PROBATION_FIRST_MS = 20_000;
const REJOINED = { timeout: 3 * PROBATION_FIRST_MS, interval: 100 };
const TEST_LIMIT_MS = 360_000;

const failures: unknown[] = [];
const log = createLog(
  'projector',
  'info',
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const line = JSON.parse(chunk.toString()) as Record<string, unknown>;
      if (line['msg'] === 'projection failed') failures.push(line);
      done();
    },
  }),
);
const stack = await disposeAfterAll(openCountingStack());
// The position of the first event may be 0, which projections without tables have passed.
await stack.count('first', 1, 1);

test('a projection that succeeds alone joins the others again only after its probation', {
  timeout: TEST_LIMIT_MS,
}, async () => {
  await using projector = stack.running(
    [...OTHERS, SLOW].map((name) => stack.counter(name)),
    log,
    stack.databaseUrl,
    { probationFirstMs: PROBATION_FIRST_MS },
  );
  await projector.passed();
  await stack.database.query(
    `create function public.sleep() returns trigger language plpgsql as
       $$ begin perform pg_sleep(${SLOW_SECONDS}); return null; end $$`,
  );
  await stack.database.query(
    `create trigger sleep before insert on ${SLOW}.counter for each statement execute function public.sleep()`,
  );
  const sinceMs = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) {
    await stack.count('a', 1);
    await projector.passed(OTHERS);
    await projector.passed([SLOW]);
  }
  // On a slow machine a probation may end meanwhile. Each is twice as long as the one before.
  const served = Math.log2((performance.now() - sinceMs) / PROBATION_FIRST_MS + 1);
  expect(failures.length, JSON.stringify(failures)).toBeLessThanOrEqual(1 + Math.floor(served));
  expect(failures.length).toBeGreaterThanOrEqual(1);
  expect(await stack.totals(SLOW)).toEqual({ first: 2, a: ROUNDS });
  expect((await stack.database.query('select from projector.parked')).rows).toEqual([]);

  await stack.database.query(`drop trigger sleep on ${SLOW}.counter`);
  // A projection that is with the others has no row of its own.
  const rows = () => stack.database.query('select projection from projector.behind');
  await expect.poll(async () => (await rows()).rows, REJOINED).toEqual([]);
  await stack.count('a', 1);
  await projector.passed();
  expect(await stack.totals(SLOW)).toEqual(await stack.totals('calm'));
});
