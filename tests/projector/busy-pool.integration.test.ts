import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { openLiveTarget } from '#services/projector/apply/checkpoints.ts';
import { applyOrPark } from '#services/projector/apply/park-stream.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { type CountingStack, openCountingStack } from './counting-projection.ts';

/** More slow projections than the pool has connections. */
const SLOW = Array.from({ length: 8 }, (_, number) => `slow${number}`);
/** Seconds of each of their transactions: longer than a pool lets wait for a connection. */
const SLOW_SECONDS = 6;
/** More events than are applied in a small batch, whose statements are cancelled after 3 s. */
const EVENTS = 300;
const TEST_LIMIT_MS = 120_000;

let stack: CountingStack;
beforeAll(async () => {
  stack = await openCountingStack();
  // The position of the first event may be 0, which projections without tables have passed.
  await stack.count('first', 1, 1);
});
afterAll(() => stack[Symbol.asyncDispose]());

const parked = async () => (await stack.database.query('select * from projector.parked')).rows;

test('an event is not parked when its only share waits in vain for a connection', async () => {
  const waiting: Projection = stack.counter('waiting');
  {
    await using projector = stack.running([waiting]);
    await projector.passed();
  }
  await stack.count('healthy', 1);
  const events: RecordedEvent[] = [];
  for await (const event of stack.eventStore.read('counted-healthy')) events.push(event);
  // The first connection is a real one, which a busy machine may be slow to make.
  const pool = openPool(stack.databaseUrl, 1, { connectionTimeoutMillis: 2_000 });
  const busy = await pool.connect();
  const poisoned: string[] = [];
  try {
    const target = await openLiveTarget(stack.database, waiting);
    const applying = applyOrPark(pool, target, new Set(), events, events[0]?.position ?? 0n, {
      prove: () => Promise.resolve(),
      onPoison: ({ message }) => poisoned.push(message),
    });
    await expect(applying).rejects.toThrow('timeout exceeded');
    expect(poisoned).toEqual([]);
  } finally {
    busy.release();
    await pool.end();
  }
});

test('a projection applies its event after slower ones have freed their connections', {
  timeout: TEST_LIMIT_MS,
}, async () => {
  const lonely: Projection = { ...stack.counter('lonely'), prefixes: ['counted-lonely'] };
  const projections = [...SLOW.map((name) => stack.counter(name)), lonely];
  {
    await using projector = stack.running(projections);
    await projector.passed();
  }
  await stack.database.query(
    `create function public.sleep() returns trigger language plpgsql as
       $$ begin perform pg_sleep(${SLOW_SECONDS}); return null; end $$`,
  );
  for (const name of SLOW)
    await stack.database.query(
      `create trigger sleep before insert on ${name}.counter for each statement execute function public.sleep()`,
    );
  await stack.count('many', ...Array.from({ length: EVENTS }, () => 1));
  await stack.count('lonely', 7);
  await using projector = stack.running(projections);
  await projector.passed(['lonely']);
  expect(await stack.totals('lonely')).toEqual({ lonely: 7 });
  expect(await parked()).toEqual([]);
  await projector.passed();
});
